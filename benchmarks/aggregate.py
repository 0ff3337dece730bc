"""Truth inference: speed, memory and parity beside crowd-kit's Dawid-Skene, and accuracy.

    python -m benchmarks.aggregate speed        1,000,000 labels beside crowd-kit
    python -m benchmarks.aggregate hundred      100 million labels: time and peak memory
    python -m benchmarks.aggregate accuracy     every method on the real crowds (CROWDWISE_DATA)
    python -m benchmarks.aggregate simulated    every method on simulated crowds
    python -m benchmarks.aggregate variants     other values of the options, on both
    python -m benchmarks.aggregate              the first, third and fourth

Each writes its part of aggregate.json beside this file; docs/aggregate.md shows them. crowd-kit
runs in an environment of its own (benchmarks/competitors.py), and each contestant in a process of
its own, the rounds alternating.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # run as a script in crowd-kit's environment
import competitors

RESULT = Path(__file__).with_suffix(".json")
STEPS = 10
ROUNDS = 3
REPEATS = {"crowd-kit": 1, "crowdwise": 3, "crowdwise, one thread": 3}  # in each round
PAPER_CROWDS = ["bluebird", "dog", "rte", "web", "product", "sentiment"]


def simulated(n_items: int, n_labels: int, n_annotators: int, n_classes: int) -> dict:
    """Labels of one-coin annotators, every item at least once, in random order."""
    rng = np.random.default_rng(0)
    right = rng.uniform(0.3, 0.95, n_annotators)
    truth = rng.integers(0, n_classes, n_items, dtype=np.int32)
    rest = n_labels - n_items
    item = np.concatenate(
        [np.arange(n_items, dtype=np.int32), rng.integers(0, n_items, rest, dtype=np.int32)]
    )
    rng.shuffle(item)
    annotator = rng.integers(0, n_annotators, n_labels, dtype=np.int32)
    label = truth[item]
    chunk = 1 << 22
    for start in range(0, n_labels, chunk):
        rows = slice(start, min(start + chunk, n_labels))
        wrong = rng.random(rows.stop - rows.start) > right[annotator[rows]]
        shift = rng.integers(1, n_classes, rows.stop - rows.start, dtype=np.int32)
        label[rows] = np.where(wrong, (label[rows] + shift) % n_classes, label[rows])
    return {"item": item, "annotator": annotator, "label": label, "truth": truth}


def real_crowds(data: Path) -> dict[str, dict]:
    """The real crowds with known truth, as triples and truth along the sorted item ids."""
    import polars as pl

    crowds = {}
    for name in PAPER_CROWDS:
        rows = pl.read_csv(data / "truth-inference" / name / "label.csv").unique()
        truth = pl.read_csv(data / "truth-inference" / name / "truth.csv")
        crowds[name] = (rows, dict(truth.select("item", "truth").iter_rows()))
    answers = np.loadtxt(data / "labelme" / "answers.txt", dtype=int)
    item, worker = np.nonzero(answers >= 0)
    rows = pl.DataFrame({"item": item, "worker": worker, "label": answers[item, worker]})
    known = pl.read_csv(data / "labelme" / "labelme_rows.csv").filter(pl.col("split") == "train")
    crowds["labelme"] = (rows, dict(known.select("row", "class_id").iter_rows()))
    rows = pl.read_csv(data / "music" / "music_genre_mturk.csv")
    rows = rows.select(item="id", worker="annotator", label="class")
    known = pl.read_csv(data / "music" / "music_genre_gold.csv")
    crowds["music"] = (rows, dict(known.select("id", "class").iter_rows()))
    coded = {}
    for name, (rows, truth) in crowds.items():
        items, item = np.unique(rows["item"].to_numpy(), return_inverse=True)
        _, worker = np.unique(rows["worker"].to_numpy(), return_inverse=True)
        classes, label = np.unique(rows["label"].to_numpy(), return_inverse=True)
        code = {value: code for code, value in enumerate(classes.tolist())}
        known = np.array([code.get(truth.get(i), -1) for i in items.tolist()])
        coded[name] = {"item": item, "annotator": worker, "label": label, "truth": known}
    return coded


def annotations(crowd: dict):
    from crowdwise import Annotations

    return Annotations(
        crowd["item"].astype(np.int32, copy=False),
        crowd["annotator"].astype(np.int32, copy=False),
        crowd["label"].astype(np.int32, copy=False),
        np.arange(crowd["item"].max() + 1),
        np.arange(crowd["annotator"].max() + 1),
        np.arange(crowd["label"].max() + 1),
    )


def with_crowdwise(crowd: dict, steps: int, threads: int | None = None) -> np.ndarray:
    import crowdwise

    options = {"smoothing": 0.0, "max_iterations": steps, "tolerance": -1.0, "threads": threads}
    return crowdwise.aggregate(annotations(crowd), "dawid-skene", **options).proba


def contestant(name: str, source: str, target: str) -> None:
    """Runs inside a process of its own: times and peak memory to stdout, posteriors to a file."""
    crowd = dict(np.load(source))
    crowd.pop("truth")

    def work(crowd: dict, steps: int) -> np.ndarray:
        if name == "crowd-kit":
            return competitors.dawid_skene(crowd, steps, stop=False)
        return with_crowdwise(crowd, steps, 1 if name.endswith("one thread") else None)

    work({key: values[:1000] for key, values in crowd.items()}, 1)  # imports and first-use costs
    before = peak_mib(anew=True)
    seconds = []
    for _ in range(REPEATS[name]):
        start = time.perf_counter()
        proba = work(crowd, STEPS)
        seconds.append(time.perf_counter() - start)
    np.save(target, proba)
    print(json.dumps({"seconds": seconds, "mib": peak_mib() - before}))


def peak_mib(anew: bool = False) -> float:
    """The most this process has held, in MiB; `anew` forgets what was before."""
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def speed() -> dict[str, Any]:
    """1,000,000 labels, 333,000 items, 250 annotators, 10 classes."""
    runs: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "crowd.npz"
        np.savez(source, **simulated(333_000, 1_000_000, 250, 10))
        targets = {name: Path(folder) / f"{name}.npy" for name in REPEATS}
        for _ in range(ROUNDS):
            for name, target in targets.items():
                python = sys.executable
                if name == "crowd-kit":
                    python = competitors.interpreter("dawid-skene")
                command = [python, __file__, "contestant", name, str(source), str(target)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                found = json.loads(done.stdout.splitlines()[-1])
                run = runs.setdefault(name, {"seconds": [], "mib": []})
                run["seconds"] += found["seconds"]
                run["mib"].append(found["mib"])
        answers = [np.load(target) for target in targets.values()]
    apart = max(float(np.abs(answers[0] - answer).max()) for answer in answers[1:])
    median = {name: statistics.median(run["seconds"]) for name, run in runs.items()}
    found = {
        name: {
            "median_seconds": round(median[name], 3),
            "least_seconds": round(min(run["seconds"]), 3),
            "most_seconds": round(max(run["seconds"]), 3),
            "times_as_fast": round(median["crowd-kit"] / median[name], 1),
            "mib_on_top_of_the_data": round(statistics.median(run["mib"])),
        }
        for name, run in runs.items()
    }
    assert apart < 1e-6
    return {"steps": STEPS, "contestants": found, "posteriors_apart": float(f"{apart:.1e}")}


def hundred() -> dict[str, Any]:
    """100 million labels on 33.3 million items: must fit in 12 GiB."""
    import crowdwise

    crowd = simulated(33_300_000, 100_000_000, 250, 10)
    truth = crowd.pop("truth")
    labels = annotations(crowd)
    start = time.perf_counter()
    answer = crowdwise.aggregate(labels, "dawid-skene", max_iterations=STEPS, tolerance=-1.0)
    seconds = time.perf_counter() - start
    peak = peak_mib() / 1024
    assert peak < 12
    right = float((answer.codes == truth).mean())
    return {
        "steps": STEPS,
        "seconds": round(seconds),
        "peak_gib": round(peak, 1),
        "accuracy": round(right, 3),
    }


Crowds = dict[str, tuple[Any, np.ndarray]]


def real() -> Crowds:
    """Annotations and true codes (-1 unknown) of the real crowds, CIFAR-10N among them."""
    from crowdwise import datasets

    crowds = real_crowds(Path(os.environ["CROWDWISE_DATA"]))
    found = {name: (annotations(crowd), crowd["truth"]) for name, crowd in crowds.items()}
    cifar = datasets.load("cifar10n-features")
    assert cifar.annotations is not None
    assert cifar.y_train is not None
    found["cifar10n"] = (cifar.annotations, cifar.y_train)
    return found


def made_up() -> Crowds:
    """Crowds after the paper's patterns: 3,000 items of 10 classes, 250 annotators, 3 labels each.

    `heavy`: most annotators give few labels.
    """
    import crowdwise

    found = {}
    for case in ("IND-I", "IND-II", "IND-III", "IND-IV", "COR-I", "COR-II", "COR-III", "COR-IV"):
        for tail in ("paper", "heavy"):
            truth = np.random.default_rng(1).integers(0, 10, 3000)
            name = case if tail == "paper" else f"{case} heavy"
            found[name] = (crowdwise.simulate.crowd(truth, case, 3, seed=2, tail=tail), truth)
    return found


def methods() -> Iterator[tuple[str, str, dict[str, Any]]]:
    from crowdwise.aggregate import METHODS

    yield from ((name, name, {}) for name in METHODS)


def options() -> Iterator[tuple[str, str, dict[str, Any]]]:
    tried: list[tuple[str, dict[str, Any]]] = [
        ("grouped-dawid-skene", {"n_groups": groups, "smoothing": smoothing})
        for groups in (1, 2, 3, 4, 6)
        for smoothing in (0.25, 0.5, 1.0)
    ]
    tried += [("dawid-skene", {"smoothing": smoothing}) for smoothing in (0.0, 0.1, 0.25, 0.5, 1.0)]
    tried += [("mace", {"uniform_shares": uniform}) for uniform in (False, True)]
    for method, given in tried:
        yield f"{method} " + ", ".join(f"{k}={v}" for k, v in given.items()), method, given


def accuracy(
    crowds: Crowds, tried: Callable[[], Iterator[tuple[str, str, dict[str, Any]]]]
) -> dict[str, dict[str, float]]:
    """Percent of right consensus labels, ties as their expected share; crowd-kit's beside them."""
    import crowdwise

    table: dict[str, dict[str, float]] = {}
    for name, (crowd, truth) in crowds.items():
        for row, method, given in tried():
            proba = crowdwise.aggregate(crowd, method, **given).proba
            table.setdefault(row, {})[name] = right(proba, truth)
        if tried is methods:
            said = {"item": crowd.item, "annotator": crowd.annotator, "label": crowd.label}
            proba = competitors.ask("dawid-skene", **said)
            table.setdefault("crowd-kit 1.4.1, Dawid-Skene", {})[name] = right(proba, truth)
    for row in table.values():
        row["mean"] = round(statistics.mean(row.values()), 2)
    return table


def right(proba: np.ndarray, truth: np.ndarray) -> float:
    best = proba >= proba.max(axis=1, keepdims=True) - 1e-9
    share = best[np.arange(len(truth)), truth] / best.sum(axis=1)
    return round(100 * float(share[truth >= 0].mean()), 2)


def show(table: dict[str, dict[str, float]]) -> None:
    names = list(next(iter(table.values())))
    print("| method | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names))
    for row, cells in table.items():
        print(f"| {row} | " + " | ".join(f"{cell:.2f}" for cell in cells.values()) + " |")


def keep(part: str, found: dict[str, Any]) -> None:
    """Put one part into the file of results, with what it was measured on."""
    from crowdwise.files import write_text
    from crowdwise.reproduce.machine import machine

    record = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    record[part] = found | {
        "machine": machine(),
        "load": round(os.getloadavg()[0], 1),
        "versions": f"Python {platform.python_version()}, numpy {np.__version__}",
    }
    write_text(RESULT, json.dumps(record, indent=1) + "\n")


def main(parts: list[str]) -> None:
    if parts[:1] == ["contestant"]:
        contestant(*parts[1:4])
        return
    have_data = "CROWDWISE_DATA" in os.environ
    for part in parts or ["speed", "accuracy", "simulated"]:
        if part in ("speed", "hundred"):
            found = {"speed": speed, "hundred": hundred}[part]()
            print(json.dumps(found, indent=1))
            keep(part, found)
        elif part == "accuracy" and not have_data:
            print("accuracy: skipped, CROWDWISE_DATA is not set")
        elif part in ("accuracy", "simulated"):
            table = accuracy(real() if part == "accuracy" else made_up(), methods)
            show(table)
            keep(part, {"table": table})
        elif part == "variants":
            tables = [accuracy(made_up(), options)]
            tables += [accuracy(real(), options)] if have_data else []
            for table in tables:
                show(table)
        else:
            sys.exit(f"no part {part!r}: speed, hundred, accuracy, simulated, variants")


if __name__ == "__main__":
    main(sys.argv[1:])
