"""Truth inference: speed, memory and parity beside crowd-kit's Dawid-Skene, and accuracy.

    python -m benchmarks.aggregate              both tables below (accuracy needs CROWDWISE_DATA)
    python -m benchmarks.aggregate variants     accuracy beside other values of the options
    python -m benchmarks.aggregate hundred      100 million labels: time and peak memory

crowd-kit runs in an environment of its own, made on first use in benchmarks/.envs, and each
contestant in a process of its own.

Measured on two cores of an AMD EPYC that other work shared (load 5 to 9), Python 3.11, numpy 2.4,
scipy 1.17, medians of 3 (crowd-kit) and 7 runs, 10 steps on 1,000,000 labels: crowd-kit 1.4.1
25.2 s and 500 MiB on top of the data, crowdwise 0.99 s and 50 MiB; posteriors at most 1.0e-10
apart. 100 million labels: peak 5.0 GiB, one run, 175 s at load 8 to 10. docs/aggregate.md has the
accuracies.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

ENVIRONMENTS = Path(__file__).parent / ".envs"
CROWD_KIT = "crowd-kit==1.4.1"
STEPS = 10
PAPER_CROWDS = ["bluebird", "dog", "rte", "web", "product", "sentiment"]


def crowd_kit_python() -> str:
    """The interpreter of crowd-kit's environment, made when it is not there."""
    folder = ENVIRONMENTS / "crowd-kit"
    python = folder / "bin" / "python"
    if not python.exists():
        ENVIRONMENTS.mkdir(exist_ok=True)
        (ENVIRONMENTS / ".gitignore").write_text("*\n")
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", CROWD_KIT], check=True)
    return str(python)


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


def with_crowd_kit(crowd: dict, steps: int, stop: bool = False) -> np.ndarray:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    frame = pd.DataFrame(
        {"task": crowd["item"], "worker": crowd["annotator"], "label": crowd["label"]}
    )
    model = DawidSkene(n_iter=steps, tol=1e-5 if stop else -np.inf).fit(frame)
    return model.probas_.sort_index().sort_index(axis=1).to_numpy()


def with_crowdwise(crowd: dict, steps: int) -> np.ndarray:
    import crowdwise

    options = {"smoothing": 0.0, "max_iterations": steps, "tolerance": -1.0}
    return crowdwise.aggregate(annotations(crowd), "dawid-skene", **options).proba


def contestant(name: str, source: str, target: str, repeats: int) -> None:
    """Runs inside a process of its own: times and peak memory to stdout, posteriors to a file."""
    work = {"crowd-kit": with_crowd_kit, "crowdwise": with_crowdwise}[name]
    crowd = dict(np.load(source))
    tiny = {key: values[:1000] for key, values in crowd.items()}
    work(tiny, 1)  # imports and first-use costs are not what is measured
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        proba = work(crowd, STEPS)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.save(target, proba)
    print(json.dumps({"seconds": seconds, "mib": (peak - before) / 1024, "peak": peak / 1024}))


def compete(name: str, python: str, source: Path, target: Path, repeats: int) -> dict:
    command = [python, __file__, "contestant", name, str(source), str(target), str(repeats)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def speed(folder: Path) -> None:
    """The table of the issue: 1,000,000 labels, 333,000 items, 250 annotators, 10 classes."""
    source = folder / "crowd.npz"
    np.savez(source, **simulated(333_000, 1_000_000, 250, 10))
    entries = [("crowd-kit", crowd_kit_python(), 3), ("crowdwise", sys.executable, 7)]
    found = {n: compete(n, p, source, folder / f"{n}.npy", r) for n, p, r in entries}
    print(f"| {STEPS} steps, 1,000,000 labels | seconds (median) | MiB on top of the data |")
    print("|---|---|---|")
    for name, result in found.items():
        print(f"| {name} | {statistics.median(result['seconds']):.3f} | {result['mib']:.0f} |")
    medians = [statistics.median(found[name]["seconds"]) for name in ("crowd-kit", "crowdwise")]
    apart = np.abs(np.load(folder / "crowd-kit.npy") - np.load(folder / "crowdwise.npy")).max()
    print(
        f"\n{medians[0] / medians[1]:.1f} times as fast; posteriors differ by at most {apart:.1e}"
    )
    assert apart < 1e-6


def accuracy(folder: Path, data: Path) -> None:
    """Every method with its defaults on every real crowd; crowd-kit's Dawid-Skene beside them."""
    import crowdwise
    from crowdwise.aggregate import METHODS

    crowds = real_crowds(data)
    table: dict[str, list[float]] = {}
    for name, crowd in crowds.items():
        np.savez(folder / f"{name}.npz", **crowd)
        known = crowd["truth"] >= 0
        for method in METHODS:
            answer = crowdwise.aggregate(annotations(crowd), method).labels
            table.setdefault(method, []).append((answer == crowd["truth"])[known].mean())
        code = (
            "import sys, numpy as np; sys.path.insert(0, sys.argv[1]); import aggregate as a;"
            "np.save(sys.argv[3], a.with_crowd_kit(dict(np.load(sys.argv[2])), 100, True))"
        )
        paths = [str(Path(__file__).parent), str(folder / f"{name}.npz"), str(folder / "p.npy")]
        subprocess.run([crowd_kit_python(), "-c", code, *paths], check=True)
        answer = np.load(folder / "p.npy").argmax(axis=1)
        column = table.setdefault("crowd-kit 1.4.1, Dawid-Skene", [])
        column.append((answer == crowd["truth"])[known].mean())
    show(list(crowds), table)


def variants(data: Path) -> None:
    """What other values of the options do: the number of groups, the smoothing, MACE's shares."""
    import crowdwise

    crowds = real_crowds(data)
    tried = [("grouped-dawid-skene", {"n_groups": groups}) for groups in (1, 2, 3, 4, 6)]
    tried += [("dawid-skene", {"smoothing": smoothing}) for smoothing in (0.0, 0.1, 0.25, 0.5, 1.0)]
    tried += [("mace", {"uniform_shares": uniform}) for uniform in (False, True)]
    table = {}
    for method, options in tried:
        shares = table.setdefault(f"{method} {options}", [])
        for crowd in crowds.values():
            answer = crowdwise.aggregate(annotations(crowd), method, **options).labels
            shares.append((answer == crowd["truth"])[crowd["truth"] >= 0].mean())
    show(list(crowds), table)


def show(crowds: list[str], table: dict[str, list[float]]) -> None:
    print("| method | " + " | ".join(crowds) + " | mean |")
    print("|---|" + "---|" * (len(crowds) + 1))
    for method, shares in table.items():
        cells = [f"{100 * share:.2f}" for share in [*shares, statistics.mean(shares)]]
        print(f"| {method} | " + " | ".join(cells) + " |")


def hundred() -> None:
    """100 million labels on 33.3 million items: must fit in 12 GiB."""
    import crowdwise

    crowd = simulated(33_300_000, 100_000_000, 250, 10)
    truth = crowd.pop("truth")
    labels = annotations(crowd)
    start = time.perf_counter()
    answer = crowdwise.aggregate(labels, "dawid-skene", max_iterations=STEPS, tolerance=-1.0)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    right = (answer.labels == truth).mean()
    print(f"{STEPS} steps: {seconds:.0f} s, peak {peak:.1f} GiB, accuracy {right:.3f}")
    assert peak < 12


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["contestant"]:
        contestant(*arguments[1:4], int(arguments[4]))
    elif arguments == ["hundred"]:
        hundred()
    elif arguments == ["variants"]:
        variants(Path(os.environ["CROWDWISE_DATA"]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            speed(Path(folder))
            if data := os.environ.get("CROWDWISE_DATA"):
                print()
                accuracy(Path(folder), Path(data))
            else:
                print("\naccuracy: skipped, CROWDWISE_DATA is not set")


if __name__ == "__main__":
    main(sys.argv[1:])
