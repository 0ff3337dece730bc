"""Small crowds, small nets and the smallest loop, for the tests of the methods."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.methods import create
from crowdwise.methods.base import Method
from crowdwise.nets.net import Net

N, R, C, D, HIDDEN = 60, 7, 4, 5, 6  # R differs from every other size

# what a method needs to do its work within a few small epochs
SETTINGS: dict[str, dict[str, Any]] = {
    "ccc": {
        "warmup_epochs": 1,
        "n_groups": 3,
        "meta_size": 20,
        "meta_batch_size": 8,
        "active": "all",
    }
}


@contextmanager
def float64() -> Iterator[None]:
    """New tensors and parameters in double precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def make_net(norm: bool = False, classes: int = C) -> Callable[[], Net]:
    def build() -> Net:
        layers: list[nn.Module] = [nn.Linear(D, HIDDEN), nn.Tanh()]
        if norm:
            layers.append(nn.BatchNorm1d(HIDDEN))
        return Net(nn.Sequential(*layers), nn.Linear(HIDDEN, classes))

    return build


def crowd(
    seed: int = 0,
    silent: tuple[int, ...] = (),
    unused: tuple[int, ...] = (),
    alone: bool = False,
    per_item: int = 3,
) -> Annotations:
    """N items; `silent` annotators give no label, `unused` classes are never given; every
    annotator not silent does label. `alone`: one annotator, one label per item."""
    rng = np.random.default_rng(seed)
    speakers = np.array([0]) if alone else np.setdiff1d(np.arange(R), silent)
    given = np.setdiff1d(np.arange(C), unused)
    per_item = 1 if alone else per_item
    annotator = np.concatenate([rng.choice(speakers, per_item, replace=False) for _ in range(N)])
    names = ["only"] if alone else [f"a{r}" for r in range(R)]
    return Annotations(
        np.repeat(np.arange(N), per_item).astype(np.int32),
        annotator.astype(np.int32),
        rng.choice(given, len(annotator)).astype(np.int32),
        np.arange(N),
        np.array(names),
        np.arange(C),
    )


def features(seed: int = 0) -> np.ndarray:
    x = np.random.default_rng([seed, 1]).normal(size=(N, D))
    return x.astype(torch.zeros(()).numpy().dtype)


def data_for(name: str, **crowd_options: Any) -> CrowdData:
    """A crowd that the method takes: of one annotator for true labels."""
    return CrowdData(features(), crowd(alone=name == "true-labels", **crowd_options))


def build(
    name: str, shape: CrowdShape, seed: int = 0, norm: bool = False, **options: Any
) -> Method:
    torch.manual_seed(seed)
    given = {"lr": 1e-2, "seed": seed, **SETTINGS.get(name, {}), **options}
    return create(name, make_net(norm, shape.n_classes), shape, given)


def train(
    method: Method, data: CrowdData, epochs: int = 3, batch_size: int = 16, seed: int = 0
) -> list[dict[str, Tensor]]:
    torch.manual_seed(seed)
    method.train()
    method.start(data)
    losses = []
    for epoch in range(epochs):
        method.start_epoch(data, epoch)
        order = data.labelled[torch.randperm(len(data.labelled))]
        losses += [method.update(batch) for batch in data.epoch(order, batch_size)]
    method.eval()
    return losses


def whole_batch(data: CrowdData) -> CrowdBatch:
    return next(data.epoch(torch.arange(len(data)), len(data)))
