"""A crowd, a net and a method small enough to train in a moment."""

import numpy as np
import torch

from crowdwise import methods, nets
from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.methods.base import Method
from crowdwise.methods.options import Options

N, D, C, R = 80, 6, 3, 4


def inputs(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features around a centre per class, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, C, N)
    return (3 * np.eye(C, D)[y] + rng.normal(size=(N, D))).astype(np.float32), y


def crowd(y: np.ndarray, wrong: float = 0.3, seed: int = 0) -> Annotations:
    """Everybody labels every other item; a share of the labels is made up."""
    rng = np.random.default_rng(seed)
    item, annotator = np.nonzero(np.add.outer(np.arange(len(y)), np.arange(R)) % 2)
    label = np.where(rng.random(len(item)) < wrong, rng.integers(0, C, len(item)), y[item])
    return Annotations(item, annotator, label, np.arange(len(y)), np.arange(R), np.arange(C))


def data(seed: int = 0) -> CrowdData:
    x, y = inputs(seed)
    return CrowdData(x, crowd(y))


def method(name: str = "crowd-layer", net: str = "mlp", dropout: float = 0.5, **options) -> Method:
    shape = data().shape
    given = {"epochs": 3, "lr": 1e-2, "batch_size": 16, **options}
    if name == "ccc":
        given = {"warmup_epochs": 1, "n_groups": 2, "meta_size": 12, **given}
    build = {"mlp": {"hidden": (8,), "dropout": dropout}}.get(net, {})
    return methods.create(
        name, lambda: nets.make(net, shape.input, shape.n_classes, **build), shape, given
    )


class Scripted(Method):
    """Predicts class `weight` after epoch `weight`: what is best is known beforehand."""

    def __init__(self, epochs: int, selection: str = "validation", **script) -> None:
        options = Options(epochs=epochs, selection=selection)
        super().__init__(lambda: nets.make("linear", (D,), C), data().shape, options)
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.script = script

    def start_epoch(self, data: CrowdData, epoch: int) -> None:
        with torch.no_grad():
            self.weight += 1  # in place, as an optimiser does
        if self.script.get("stop_at") == epoch:
            raise KeyboardInterrupt

    def update(self, batch: CrowdBatch) -> dict[str, torch.Tensor]:
        assert self.training
        return {"loss": self.script.get("loss", torch.zeros(()))}

    def predict_each(self, x: torch.Tensor) -> torch.Tensor:
        assert not self.training
        guess = torch.full((len(x),), int(self.weight) % C)
        return torch.nn.functional.one_hot(guess, C).float()[None]
