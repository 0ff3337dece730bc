"""One iteration of CCC beside its literal form and beside CrowdLayer, on the paper's ResNets.

    python -m benchmarks.iterations                      both nets, into iterations.json
    python -m benchmarks.iterations --part resnet34      one of them
    python -m benchmarks.iterations --rounds 1 --batch 8 a rehearsal, written nowhere

ResNet-34: 32×32×3, R = 747; ResNet-18: 28×28×1, R = 250; batch 128, three labels an item, random
pixels. One model, past its warm-up. All contestants take turns; ratios are taken round by round.
The convolution rate is that of the net's own convolutions alone, forward and backward, each in its
place's shape and layout.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.naive import NaiveCCC
from benchmarks.race import race, ratio, say, spread, write
from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.engine.devices import make_fabric, place
from crowdwise.methods import create
from crowdwise.methods.base import Method
from crowdwise.methods.ccc import CCC, CCCOptions
from crowdwise.nets import Net, make

RESULT = Path(__file__).with_suffix(".json")
NETS = {"resnet34": ((3, 32, 32), 747), "resnet18": ((1, 28, 28), 250)}
WANTED = {  # of naive: virtual=all, virtual=head, virtual=head in bf16
    "resnet34": (0.60, 0.40, 0.21),
    "resnet18": (0.70, 0.46, 0.26),
}
OPTIONS = CCCOptions(
    n_models=1, coupled=False, warmup_epochs=0, n_groups=30, meta_size=1000, optimizer="sgd",
    lr=0.01, weight_decay=5e-4, active="head", virtual="all",
)  # fmt: skip


def crowd_data(shape: tuple[int, ...], n_annotators: int, n_items: int) -> CrowdData:
    """Random pixels; three annotators an item, every class given."""
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(n_items), 3)
    annotator = np.concatenate([rng.choice(n_annotators, 3, replace=False) for _ in range(n_items)])
    label = rng.integers(0, 10, 3 * n_items)
    ids = np.arange(n_items), np.arange(n_annotators), np.arange(10)
    crowd = Annotations(item, annotator, label, *ids)
    return CrowdData(rng.normal(size=(n_items, *shape)).astype(np.float32), crowd)


def contestant(net: str, kind: str, data: CrowdData) -> Method:
    """A method past its warm-up; `kind` as printed."""
    name, _, rest = kind.partition(" ")
    precision = "bf16" if "bf16" in rest else "fp32"
    torch.manual_seed(0)

    def make_net() -> Net:
        return make(net, data.shape.input, 10)

    if name == "CrowdLayer":
        given = {"optimizer": "sgd", "lr": 0.01, "weight_decay": 5e-4, "precision": precision}
        method = create("crowd-layer", make_net, data.shape, given)
    else:
        virtual = "head" if "virtual=head" in rest else "all"
        active = "all" if "active=all" in rest else "head"
        options = replace(OPTIONS, virtual=virtual, active=active, precision=precision)  # type: ignore[arg-type]
        method = {"CCC": CCC, "naive": NaiveCCC}[name](make_net, data.shape, options)
    if name != "naive":
        place(make_fabric(precision, "cpu"), method)  # type: ignore[arg-type]
    method.train()
    method.start(data)
    method.start_epoch(data, 0)
    return method


def convolutions(method: Method, batch: CrowdBatch) -> list[tuple[nn.Conv2d, Tensor]]:
    """Every convolution of a method's net with what it is shown."""
    seen: list[tuple[nn.Conv2d, Tensor]] = []

    def keep(layer: nn.Module, given: tuple[Tensor, ...], _: Tensor) -> None:
        if isinstance(layer, nn.Conv2d):
            seen.append((layer, given[0].detach()))

    hooks = [layer.register_forward_hook(keep) for layer in method.modules()]
    with torch.no_grad():
        method.predict_each(batch.x)
    for hook in hooks:
        hook.remove()
    return seen


def operations(layer: nn.Conv2d, x: Tensor) -> int:
    """Floating-point operations of one convolution's forward pass."""
    y = layer(x[:1].to(layer.weight.dtype))
    return 2 * len(x) * y.numel() * layer.weight[0].numel()


def convolving(layers: list[tuple[nn.Conv2d, Tensor]], half: bool) -> Callable[[], None]:
    """Forward and backward of these convolutions and nothing else; the first wants no dx."""
    prepared = []
    for i, (layer, x) in enumerate(layers):
        weight = layer.weight.detach()
        if half:
            x, weight = x.bfloat16(), weight.bfloat16()
        stride, padding = list(layer.stride), list(layer.padding)
        dy = torch.empty_like(torch.conv2d(x, weight, None, stride, padding)).normal_()
        prepared.append((x, weight, dy, stride, padding, [i > 0, True, False]))

    def run() -> None:
        for x, weight, dy, stride, padding, wanted in prepared:
            torch.conv2d(x, weight, None, stride, padding)
            torch.ops.aten.convolution_backward(
                dy, x, weight, None, stride, padding, [1, 1], False, [0, 0], 1, wanted
            )

    return run


KINDS = [
    "naive",
    "CCC virtual=all",
    "CCC virtual=head",
    "CrowdLayer",
    "CCC virtual=head bf16",
    "CrowdLayer bf16",
]


def run(net: str, rounds: int, batch_size: int, rehearsal: bool) -> None:
    shape, n_annotators = NETS[net]
    data = crowd_data(shape, n_annotators, 2 * batch_size)
    methods = {kind: contestant(net, kind, data) for kind in KINDS}
    batch = next(data.epoch(torch.arange(len(data)), batch_size))
    plain = convolutions(methods["CrowdLayer"], batch)
    forward = sum(operations(*one) for one in plain)
    first = operations(*plain[0])
    contestants: dict[str, Callable[[], object]] = {
        kind: lambda method=method: method.update(batch) for kind, method in methods.items()
    }
    contestants["convolutions"] = convolving(plain, half=False)
    contestants["convolutions bf16"] = convolving(plain, half=True)
    times = race(contestants, rounds)

    backward = 2 * forward - first
    work = {  # forward and backward passes through the convolutions
        "CrowdLayer": forward + backward,
        "CCC virtual=head": 2 * forward + backward,
        "CCC virtual=all": 2 * (forward + backward),
    }
    found: dict[str, object] = {"batch": batch_size, "rounds": rounds, "annotators": n_annotators}
    found["seconds"] = {kind: spread(several) for kind, several in times.items()}
    rates = {
        kind: [(forward + backward) / seconds / 1e9 for seconds in times[f"convolutions{kind}"]]
        for kind in ("", " bf16")
    }
    ratios = {}
    for kind, most in zip(
        ("CCC virtual=all", "CCC virtual=head", "CCC virtual=head bf16"), WANTED[net], strict=True
    ):
        ratios[f"{kind} / naive"] = (ratio(times, kind, "naive"), most)
    for kind, other, most in (
        ("CCC virtual=head", "CrowdLayer", 1.38),
        ("CCC virtual=all", "CrowdLayer", 2.05),
        ("CCC virtual=head bf16", "CrowdLayer bf16", 1.38),
    ):
        ratios[f"{kind} / {other}"] = (ratio(times, kind, other), most)
    print(f"{net}, batch {batch_size}, R = {n_annotators}, {torch.get_num_threads()} threads")
    for name, (value, most) in ratios.items():
        say(name, value, most)
    found["ratios"] = {name: {**value, "wanted": most} for name, (value, most) in ratios.items()}
    shares = {}
    for kind, several in times.items():
        half = " bf16" if kind.endswith(" bf16") else ""
        operations_done = work.get(kind.removesuffix(" bf16"))
        if operations_done:
            pairs = zip(several, rates[half], strict=True)
            shares[kind] = spread([operations_done / 1e9 / s / rate for s, rate in pairs])
            wanted = 0.75 if half else 0.85
            print(
                f"{kind:58} {shares[kind]['median']:.3f} of the convolution rate, {wanted} wanted"
            )
    found["convolution_gflops"] = {k.strip() or "fp32": spread(v) for k, v in rates.items()}
    found["share_of_convolution_rate"] = shares
    if not rehearsal:
        write(RESULT, net, found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=list(NETS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    for net in [chosen.part] if chosen.part else NETS:
        run(net, chosen.rounds, chosen.batch, rehearsal=chosen.batch != 128)


if __name__ == "__main__":
    main()
