"""Reading a crowd's table beside polars: ten million annotations from CSV, in time and memory.

    python -m benchmarks.reading                the table below, written into reading.json too
    python -m benchmarks.reading 1000000        with fewer annotations

polars reads the same file and turns the three columns into categoricals, once through memory
(`read_csv`, then `cast`) and once streaming, which is the faster on a machine at rest. crowdwise
does more in its time: sorted vocabularies as NumPy arrays, integers told from text, duplicates,
ragged rows and empty cells looked for. Every run is a process of its own; peak memory is what the
process holds beyond its imports at most. The rounds alternate, so that what else the machine does
weighs on all contestants alike.

Measured on two cores, one of them taken by other work, Python 3.11, numpy 2.4, polars 2.1, medians
of 3: 6.2 s (5.8 processor seconds) beside 6.0 s (5.6) for read_csv and cast and 5.8 s (5.6) for
streaming; peak 739 MiB, 2.66 times the 278 MiB of triples and vocabularies. With both cores free
polars uses them better: three alternating rounds of `once` gave medians of 4.1 s beside 3.0 s and
2.9 s, 1.35 and 1.38 times polars, with peaks of 735 to 751 MiB.
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from crowdwise.annotations import read_annotations
from crowdwise.files import write_text

RESULT = Path(__file__).with_suffix(".json")
N_LABELS = 10_000_000
ROUNDS = 3
CONTESTANTS = ("crowdwise", "polars read_csv", "polars streaming")


def write_table(path: Path, n_labels: int, seed: int = 0) -> None:
    """40 labels per annotator, about 3 per item, string ids, rows in random order."""
    rng = np.random.default_rng(seed)
    n_annotators, n_items = n_labels // 40, n_labels * 33 // 100
    item_names = rng.permutation(3 * n_items)[:n_items]
    annotator_names = rng.permutation(4 * n_annotators)[:n_annotators]
    row = rng.permutation(n_labels)
    frame = pl.DataFrame(
        {
            "item": item_names[row % n_items],
            "annotator": annotator_names[row // 40],
            "label": rng.integers(0, 10, n_labels),
        }
    )
    names = {"item": "item-{}", "annotator": "worker-{}", "label": "class-{}"}
    frame.select(
        pl.format(text, pl.col(name)).alias(name) for name, text in names.items()
    ).write_csv(path)


def once(contestant: str, path: str) -> dict:
    """One reading in this process: seconds on the clock, processor seconds, MiB at the peak."""
    before = _peak()
    clock, processor = time.perf_counter(), time.process_time()
    held = 0.0
    if contestant == "crowdwise":
        crowd = read_annotations(path)
        fields = ("item", "annotator", "label", "item_ids", "annotator_ids", "classes")
        held = sum(getattr(crowd, name).nbytes for name in fields) / 2**20
    elif contestant == "polars read_csv":
        _frame = pl.read_csv(path).with_columns(pl.all().cast(pl.Categorical))
    else:
        table = pl.scan_csv(path).with_columns(pl.all().cast(pl.Categorical))
        _frame = table.collect(engine="streaming")
    return {
        "seconds": time.perf_counter() - clock,
        "processor_seconds": time.process_time() - processor,
        "peak_mib": _peak() - before,
        "held_mib": held,
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(path: Path) -> dict[str, list[dict]]:
    """ROUNDS alternating runs of every contestant, after one that warms the file cache."""
    runs: dict[str, list[dict]] = {name: [] for name in CONTESTANTS}
    for round_number in range(ROUNDS + 1):
        for name in CONTESTANTS if round_number else CONTESTANTS[:1]:
            printed = run("once", name, str(path))
            if round_number:
                runs[name].append(json.loads(printed))
    return runs


def run(*arguments: str) -> str:
    """What a process of its own prints."""
    command = [sys.executable, "-m", "benchmarks.reading", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def summary(runs: dict[str, list[dict]]) -> dict[str, dict[str, float]]:
    """Median, least and most of what was measured, per contestant."""
    return {
        name: {
            f"{how}_{what}": round(function([run[what] for run in several]), 2)
            for what in several[0]
            for how, function in (("median", statistics.median), ("least", min), ("most", max))
        }
        for name, several in runs.items()
    }


def main(n_labels: int = N_LABELS) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crowd.csv"
        # Not in this process: the peak memory of a parent is handed down to its children.
        run("write", str(path), str(n_labels))
        size = path.stat().st_size / 2**20
        load_before = os.getloadavg()[0]
        runs = measure(path)
    results = summary(runs)
    ours, polars = results["crowdwise"], results["polars read_csv"]
    time_ratios = [
        mine["seconds"] / theirs["seconds"]
        for mine, theirs in zip(runs["crowdwise"], runs["polars read_csv"], strict=True)
    ]
    fastest = min(results[name]["median_seconds"] for name in CONTESTANTS[1:])
    record = {
        "labels": n_labels,
        "file_mib": round(size),
        "rounds": ROUNDS,
        "results": results,
        "time_ratio_to_polars": round(ours["median_seconds"] / polars["median_seconds"], 2),
        "time_ratio_round_by_round": [round(ratio, 2) for ratio in time_ratios],
        "time_ratio_to_fastest_polars": round(ours["median_seconds"] / fastest, 2),
        "peak_to_held": round(ours["median_peak_mib"] / ours["median_held_mib"], 2),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_processor()}",
        "load": [round(load_before, 1), round(os.getloadavg()[0], 1)],
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "polars": pl.__version__,
        },
    }
    print(f"{n_labels:,} annotations, {size:.0f} MiB of CSV, medians of {ROUNDS} (least-most)")
    for name, row in results.items():
        print(
            f"{name:18} {row['median_seconds']:7.2f} s "
            f"({row['least_seconds']:.2f}-{row['most_seconds']:.2f}), "
            f"{row['median_processor_seconds']:6.2f} processor s, "
            f"peak {row['median_peak_mib']:5.0f} MiB"
        )
    print(
        f"time: {record['time_ratio_to_polars']} of polars read_csv and cast "
        f"({record['time_ratio_to_fastest_polars']} of the faster polars), at most 1.5 wanted; "
        f"peak: {record['peak_to_held']} of the {ours['median_held_mib']:.0f} MiB of triples and "
        f"vocabularies, under 3 wanted; load {record['load'][0]} to {record['load'][1]}"
    )
    write_text(RESULT, json.dumps(record, indent=2) + "\n")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text("utf-8") if Path("/proc/cpuinfo").exists() else ""
    names = [line.split(":")[1].strip() for line in lines.splitlines() if "model name" in line]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    if sys.argv[1:2] == ["once"]:
        print(json.dumps(once(sys.argv[2], sys.argv[3])))
    elif sys.argv[1:2] == ["write"]:
        write_table(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:]))
