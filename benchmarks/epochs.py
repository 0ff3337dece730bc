"""A whole epoch of CCC beside its literal form: data, distillation, grouping and scoring included.

    CROWDWISE_DATA=… python -m benchmarks.epochs                      both parts, into epochs.json
    CROWDWISE_DATA=… python -m benchmarks.epochs --part features      one of them
    python -m benchmarks.epochs --share 4                             a quarter of every epoch
    python -m benchmarks.epochs --share 60                            a rehearsal, written nowhere

features: 45,000 items of 256 frozen features, 10,000 more scored, R = 747, three labels each
(CIFAR-10N's shape), the net `mlp`; wanted is 1/4 of naive. images: 54,000 pictures of 28×28×1,
6,000 more scored, R = 250, three labels each (Fashion-MNIST's shape), the net `cnn`; wanted is 1/2.
The values are random, since time does not depend on them. Both models, batch 128, past the
warm-up; every epoch is timed as `engine.fit` trains it. naive holds its labels as dense one-hots,
which takes 1.3 GB for the features and 0.5 GB for the images.
"""

import argparse
import gc
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from benchmarks.naive import NaiveCCC
from benchmarks.race import Times, ratio, say, spread, write
from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.engine import Split, fit, seeded
from crowdwise.methods.ccc import CCC, CCCOptions
from crowdwise.nets import make

RESULT = Path(__file__).with_suffix(".json")
PARTS = {  # shape of an item, items, scored items, annotators, net, wanted
    "features": ((256,), 45_000, 10_000, 747, "mlp", 0.25),
    "images": ((1, 28, 28), 54_000, 6_000, 250, "cnn", 0.5),
}
OPTIONS = CCCOptions(warmup_epochs=0, lr=1e-3, optimizer="adam", n_groups=30, meta_size=1000)
CONTESTANTS = {"CCC": CCC, "naive": NaiveCCC}


def crowd(n_items: int, n_annotators: int) -> Annotations:
    """Three labels an item, by annotators next to each other in a shuffled circle."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, n_annotators, n_items)
    annotator = (first[:, None] + np.arange(3)) % n_annotators
    label = rng.integers(0, 10, 3 * n_items)
    item = np.repeat(np.arange(n_items), 3)
    ids = np.arange(n_items), np.arange(n_annotators), np.arange(10)
    return Annotations(item, annotator.ravel(), label, *ids)


def epochs(kind: str, part: str, share: int, n_epochs: int, given: dict) -> list[float]:
    """Seconds of each epoch over one part in `share` of the items."""
    shape, n_items, scored, n_annotators, net, _ = PARTS[part]
    n_items, scored = n_items // share, scored // share
    rng = np.random.default_rng(1)
    x = rng.standard_normal((n_items, *shape), dtype=np.float32)
    x_test = rng.standard_normal((scored, *shape), dtype=np.float32)
    data = CrowdData(x, crowd(n_items, n_annotators))
    split = Split.of(x_test, rng.integers(0, 10, len(x_test)))
    options = replace(OPTIONS, epochs=n_epochs, **given)
    with seeded(0):
        method = CONTESTANTS[kind](lambda: make(net, shape, 10), data.shape, options)
        ends: list[float] = []
        start = perf_counter()
        fit(method, data, {"test": split}, on_epoch=lambda _: ends.append(perf_counter()))
    return np.diff([start, *ends]).tolist()


def run(part: str, share: int, rounds: int, given: dict) -> None:
    wanted = PARTS[part][5]
    times: Times = {}
    for _ in range(rounds):
        for kind in CONTESTANTS:  # one epoch each in turn, the first batches' costs included
            seconds = epochs(kind, part, share, 1, given)
            times.setdefault(kind, []).extend(seconds)
            gc.collect()
            print(f"{part} {kind:6} {seconds[0]:7.2f} s", flush=True)
    found = ratio(times, "CCC", "naive")
    name = f"{part}, {given or 'active=head virtual=all'}: CCC / naive"
    say(name, found, wanted)
    if share <= 4:
        several = {kind: spread(values) for kind, values in times.items()}
        label = " ".join([part, *(f"{k}={v}" for k, v in given.items())])
        result = {"ratio": found, "wanted": wanted, "share": share, "rounds": rounds}
        write(RESULT, label, {**result, "seconds": several})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=list(PARTS))
    parser.add_argument("--share", type=int, default=1, help="one part in so many of the items")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--active", choices=["head", "all"])
    parser.add_argument("--virtual", choices=["head", "all"])
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    given = {k: v for k in ("active", "virtual") if (v := getattr(chosen, k))}
    for part in [chosen.part] if chosen.part else PARTS:
        run(part, chosen.share, chosen.rounds, given)


if __name__ == "__main__":
    main()
