"""An epoch of CCC with 100,000 annotators beside one with 250: time per label and memory.

    python -m benchmarks.annotators                      into annotators.json
    python -m benchmarks.annotators --items 20000        a rehearsal, written nowhere

Simulated: 1 million items of 64 random features, 3 labels each, 10 classes, both models with the
net `mlp`, Adam, batch 128, past the warm-up; distillation and grouping included. Every epoch runs
in a process of its own, which reports its peak memory beside what T and the optimiser's two
moments of it take, labels + R·C² numbers; R = 250 goes first and last, for the spread.
"""

import argparse
import json
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from benchmarks.epochs import OPTIONS, crowd
from benchmarks.race import machine, write
from crowdwise.batches import CrowdData
from crowdwise.engine import fit, seeded
from crowdwise.methods.ccc import CCC
from crowdwise.nets import make

RESULT = Path(__file__).with_suffix(".json")
FEW, MANY = 250, 100_000


def epoch(n_annotators: int, n_items: int, threads: int) -> dict[str, float]:
    """Seconds of one epoch and MiB at the peak, both in this process."""
    torch.set_num_threads(threads)
    x = np.random.default_rng(1).standard_normal((n_items, 64), dtype=np.float32)
    data = CrowdData(x, crowd(n_items, n_annotators))
    before = _peak()
    with seeded(0):
        options = replace(OPTIONS, epochs=1)
        method = CCC(lambda: make("mlp", (64,), 10), data.shape, options)
        start = perf_counter()
        fit(method, data)
        seconds = perf_counter() - start
    weights = sum(peer.T.nbytes for peer in method._peers())
    return {
        "seconds": round(seconds, 2),
        "microseconds_per_label": round(1e6 * seconds / (3 * n_items), 3),
        "data_mib": round(before),
        "training_mib": round(_peak() - before),
        "confusions_mib": round(weights / 2**20),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--once", type=int, help="annotators of a single epoch, here")
    chosen = parser.parse_args()
    if chosen.once:
        print(json.dumps(epoch(chosen.once, chosen.items, chosen.threads)))
        return
    torch.set_num_threads(chosen.threads)
    runs: dict[str, list[dict]] = {str(FEW): [], str(MANY): []}
    for n_annotators in (FEW, MANY, FEW):
        given = [f"--once={n_annotators}", f"--items={chosen.items}", f"--threads={chosen.threads}"]
        command = [sys.executable, "-m", "benchmarks.annotators", *given]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs[str(n_annotators)].append(json.loads(done.stdout))
        print(f"R = {n_annotators:,}: {runs[str(n_annotators)][-1]}", flush=True)
    few = [run["seconds"] for run in runs[str(FEW)]]
    ratios = [runs[str(MANY)][0]["seconds"] / seconds for seconds in few]
    print(f"time per label: {min(ratios):.2f} to {max(ratios):.2f} of that for R = 250, 1.3 wanted")
    if chosen.items == 1_000_000:
        found = {"ratio_least": min(ratios), "ratio_most": max(ratios), "wanted": 1.3}
        write(RESULT, "annotators", {**found, "runs": runs, "threads": machine()["threads"]})


if __name__ == "__main__":
    main()
