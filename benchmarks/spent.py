"""Where the time of a CCC iteration goes, and how near it comes to what the machine can do.

    CROWDWISE_DATA=… python -m benchmarks.spent                  all parts, into spent.json
    CROWDWISE_DATA=… python -m benchmarks.spent --part music     one of them

The torch profiler's own time of every operation, summed by kind, over the wall clock of the same
iterations without it; what is left is Python and the calls. The limit is the iteration's
floating-point operations (torch's FlopCounterMode: convolutions and matrix products) over the rate
measured here: that of the net's convolutions alone, or of a product of two 2048×2048 matrices.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import iterations, music
from benchmarks.race import write
from crowdwise import datasets
from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.functional.product import product
from crowdwise.methods.base import Method
from crowdwise.methods.ccc import CCC
from crowdwise.nets import make

RESULT = Path(__file__).with_suffix(".json")
PARTS = {"resnet34": "CCC virtual=head", "resnet34 bf16": "CCC virtual=head bf16", "music": ""}
KINDS = {  # the first whose words are in an operation's name
    "convolutions": ("conv",),
    "matrix products": ("mm", "_linear_pointwise", "addmv"),
    "batch norm": ("batch_norm",),
    "optimiser": ("_fused_", "foreach"),
    "random draws": ("random", "bernoulli", "randperm", "uniform"),
    "gather and scatter": ("index", "gather", "scatter", "embedding"),
    "elementwise and sums": ("",),
}


def kind_of(operation: str) -> str:
    return next(kind for kind, words in KINDS.items() if any(word in operation for word in words))


def measure(step: Callable[[], object], repeats: int) -> dict[str, object]:
    """Milliseconds of a step, the share of each kind of operation, and its operations."""
    step()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        step()
        times.append(perf_counter() - start)
    with FlopCounterMode(display=False) as counted:
        step()
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        for _ in range(repeats):
            step()
    wall = median(times)
    shares = dict.fromkeys(KINDS, 0.0)
    for event in profiled.key_averages():
        if event.key.startswith(("aten::", "mkldnn")):
            own = event.self_cpu_time_total / 1e6 / repeats
            shares[kind_of(event.key)] += own / wall
    return {
        "milliseconds": round(1000 * wall, 2),
        "gflop": round(counted.get_total_flops() / 1e9, 3),
        "shares": {kind: round(share, 3) for kind, share in shares.items()},
    }


def products(size: int = 2048) -> float:
    """GFLOP/s of one large matrix product."""
    a, b = torch.randn(2, size, size)
    product(a, b)
    times = []
    for _ in range(5):
        start = perf_counter()
        product(a, b)
        times.append(perf_counter() - start)
    return 2 * size**3 / median(times) / 1e9


def convolutions(method: Method, batch: CrowdBatch, half: bool) -> float:
    """GFLOP/s of the net's convolutions alone, forward and backward."""
    layers = iterations.convolutions(method, batch)
    forward = sum(iterations.operations(*one) for one in layers)
    backward = 2 * forward - iterations.operations(*layers[0])
    run = iterations.convolving(layers, half)
    run()
    times = []
    for _ in range(3):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return (forward + backward) / median(times) / 1e9


def resnet(kind: str) -> dict[str, object]:
    shape, n_annotators = iterations.NETS["resnet34"]
    data = iterations.crowd_data(shape, n_annotators, 256)
    method = iterations.contestant("resnet34", kind, data)
    batch = next(data.epoch(torch.arange(len(data)), 128))
    rate = convolutions(method, batch, half=kind.endswith("bf16"))
    return {**measure(lambda: method.update(batch), 3), "rate_gflops": round(rate, 1)}


def musical() -> dict[str, object]:
    found = datasets.load("music")
    data = CrowdData(found.x_train, found.annotations)
    torch.manual_seed(0)
    method = CCC(lambda: make("music", (124,), 10), data.shape, music.OPTIONS)
    method.train()
    method.start(data)
    method.start_epoch(data, music.OPTIONS.warmup_epochs)
    batch = next(data.epoch(torch.arange(len(data)), 128))
    return {**measure(lambda: method.update(batch), 200), "rate_gflops": round(products(), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=list(PARTS))
    chosen = parser.parse_args()
    for part in [chosen.part] if chosen.part else PARTS:
        torch.set_num_threads(1 if part == "music" else 2)
        found = musical() if part == "music" else resnet(PARTS[part])
        limit = found["gflop"] / found["rate_gflops"] * 1000  # type: ignore[operator]
        found["limit_milliseconds"] = round(limit, 3)
        found["fraction_reached"] = round(limit / found["milliseconds"], 3)  # type: ignore[operator]
        spent = sum(found["shares"].values())  # type: ignore[attr-defined]
        found["shares"]["Python and calls"] = round(max(0.0, 1 - spent), 3)  # type: ignore[index]
        print(part, found)
        write(RESULT, part, found)


if __name__ == "__main__":
    main()
