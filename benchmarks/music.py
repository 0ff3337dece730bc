"""A full MUSIC run of CCC beside its literal form: 200 epochs, both models, three seeds.

    CROWDWISE_DATA=… python -m benchmarks.music                  into music.json
    CROWDWISE_DATA=… python -m benchmarks.music --epochs 4       a rehearsal, written nowhere

The paper's setting (MUSIC's net, Adam 1e-2, batch 128, 50 epochs of warm-up, G 20, M 160, gamma
0.3, all layers active), through the training loop people use, the test set scored after every
epoch. Seed by seed the two take turns; both run on one thread, the faster choice for either.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import torch

from benchmarks.naive import NaiveCCC
from benchmarks.race import Times, ratio, say, spread, write
from crowdwise import datasets
from crowdwise.batches import CrowdData
from crowdwise.engine import Split, fit, seeded
from crowdwise.methods.ccc import CCC, CCCOptions
from crowdwise.nets import make

RESULT = Path(__file__).with_suffix(".json")
OPTIONS = CCCOptions(
    epochs=200, warmup_epochs=50, lr=1e-2, optimizer="adam", n_groups=20, meta_size=160,
    correction_rate=0.3, active="all", virtual="all",
)  # fmt: skip
CONTESTANTS = {"CCC": CCC, "naive": NaiveCCC}


def trained(kind: str, seed: int, epochs: int) -> tuple[float, float]:
    """Seconds of a whole training, and test accuracy of the last epoch's pair."""
    data = datasets.load("music")
    train = CrowdData(data.x_train, data.annotations)
    split = Split.of(data.x_test, data.y_test)
    options = replace(OPTIONS, epochs=epochs, warmup_epochs=epochs // 4)
    start = perf_counter()
    with seeded(seed):
        method = CONTESTANTS[kind](
            lambda: make("music", train.shape.input, train.shape.n_classes), train.shape, options
        )
        history = fit(method, train, {"test": split})
    return perf_counter() - start, 100 * history[-1]["test"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    times: Times = {kind: [] for kind in CONTESTANTS}
    right: Times = {kind: [] for kind in CONTESTANTS}
    trained("CCC", 0, 4)  # libraries load, memory is touched
    for seed in range(chosen.seeds):
        for kind in CONTESTANTS:
            seconds, accuracy = trained(kind, seed, chosen.epochs)
            times[kind].append(seconds)
            right[kind].append(round(accuracy, 2))
            print(f"seed {seed} {kind:6} {seconds:6.2f} s, test {accuracy:.2f}", flush=True)
    found = ratio(times, "CCC", "naive")
    say(f"{chosen.epochs} epochs of MUSIC, CCC / naive", found, 0.2)
    if chosen.epochs == 200:
        seconds = {kind: spread(several) for kind, several in times.items()}
        result = {"seeds": chosen.seeds, "ratio": found, "wanted": 0.2, "seconds": seconds}
        write(RESULT, "music", {**result, "last_test_accuracy": right})


if __name__ == "__main__":
    main()
