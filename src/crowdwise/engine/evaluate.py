"""Predictions over a whole set, and how often they are right.

Several processes predict a part each, and every one gets the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from crowdwise.batches import CrowdData
from crowdwise.batches.source import Source, TensorSource
from crowdwise.methods.base import Method

CHUNK = 1024  # items predicted at once


@dataclass(frozen=True)
class Split:
    """Inputs with their true classes, for evaluation only: methods never see one."""

    x: Source
    y: Tensor  # (N,) class codes

    @classmethod
    def of(cls, x: np.ndarray | Tensor, y: np.ndarray, device: torch.device | str = "cpu") -> Split:
        """A split from arrays."""
        return cls(TensorSource(x, device), torch.as_tensor(np.asarray(y, dtype=np.int64)))


@contextmanager
def evaluating(method: Method) -> Iterator[None]:
    """Evaluation mode without gradients; training mode returns afterwards."""
    training = method.training
    method.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        method.train(training)


def predict_each(method: Method, x: Source) -> Tensor:
    """Class probabilities of every model, (n_models, N, C)."""
    order = torch.arange(len(x))
    own = order[method.ranks.part(len(x))]
    with evaluating(method):
        chunks = [method.predict_each(part) for part in x.batches(own, CHUNK)]
    return method.ranks.gather(torch.cat(chunks, dim=1), len(x), dim=1)


def predict(method: Method, x: Source) -> Tensor:
    """Class probabilities (N, C), the mean of the models' softmaxes."""
    return _predict(method, x, torch.arange(len(x)))


def _predict(method: Method, x: Source, order: Tensor) -> Tensor:
    own = order[method.ranks.part(len(order))]
    with evaluating(method):
        part = torch.cat([method.predict(part) for part in x.batches(own, CHUNK)])
    return method.ranks.gather(part, len(order))


def accuracies(method: Method, split: Split) -> tuple[float, list[float]]:
    """Share of right answers: of the mean prediction, and of every model by itself."""
    each = predict_each(method, split.x)
    y = split.y.to(each.device)
    right = [float((p.argmax(dim=1) == y).double().mean()) for p in [each.mean(dim=0), *each]]
    return right[0], right[1:]


def agreement(method: Method, data: CrowdData) -> float:
    """Share of the crowd's labels that equal the prediction: a validation score without truth."""
    guess = _predict(method, data.source, data.labelled).argmax(dim=1)
    counts = data.offsets.diff()[data.labelled]
    return float((guess.repeat_interleave(counts) == data.label).double().mean())
