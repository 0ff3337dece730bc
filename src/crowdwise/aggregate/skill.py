"""How often each annotator is right, with an interval that widens when labels are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from crowdwise.aggregate.packed import Floats

LEVEL = 0.95  # of the interval
PRIOR_LABELS = 2.0  # labels' worth of trust in the crowd's mean that everyone starts with
NODES = 64  # evidence is kept at 0, 1/64, …, 1
GRID = 1000  # accuracies at which the posterior is known
AT_ONCE = 4096  # annotators whose posteriors are held together
_ACCURACY = (np.arange(GRID) + 0.5) / GRID  # (GRID,)


@dataclass(frozen=True)
class Skill:
    """Of each annotator (R,): mean and interval of the accuracy, NaN without labels."""

    accuracy: Floats
    low: Floats
    high: Floats
    above_bar: Floats  # P(accuracy > bar)


def weights(evidence: Floats, annotator: NDArray[Any], n_annotators: int) -> Floats:
    """(R, NODES + 1) how many labels of each annotator carry which evidence.

    A label between two nodes counts as part of both.
    """
    place = np.clip(evidence, 0, 1) * NODES
    left = np.minimum(place.astype(np.int64), NODES - 1)
    right = place - left
    size = n_annotators * (NODES + 1)
    at = annotator.astype(np.int64) * (NODES + 1) + left
    sums = np.zeros(size)
    sums += np.bincount(at, 1 - right, minlength=size)
    sums += np.bincount(at + 1, right, minlength=size)
    return sums.reshape(n_annotators, NODES + 1)


def skill(weighed: Floats, bar: Floats) -> Skill:
    """Posterior of every annotator's accuracy a, given the evidence of each of their labels.

    The evidence e of a label is how probable it is that the label is right when half of the
    annotator's labels are: what classifier and other annotators say of that item. Then

        p(a | labels) ∝ Beta(a; s m, s (1 - m)) Π_l [e_l a + (1 - e_l)(1 - a)]

    with m the accuracy of all annotators taken as one, and s `PRIOR_LABELS`.
    Where nothing is known about the items (e = 1/2), the posterior is the prior.

    Args:
        weighed: of `weights`.
        bar: (R,) accuracies to be surpassed.

    Example:
        >>> sure = weights(np.repeat([1.0, 0.0], [9, 1]), np.zeros(10, dtype=int), 1)
        >>> found = skill(sure, np.array([0.5]))
        >>> bool(0.6 < found.low[0] < found.accuracy[0] < found.high[0] < 1)
        True
    """
    node = np.linspace(0, 1, NODES + 1)[:, None]
    table = np.log(node * _ACCURACY + (1 - node) * (1 - _ACCURACY))  # (NODES + 1, GRID)
    everyone = weighed.sum(axis=0) @ table
    mean = float(np.average(_ACCURACY, weights=np.exp(everyone - everyone.max())))
    prior = xlogy(PRIOR_LABELS * mean - 1, _ACCURACY)
    prior += xlog1py(PRIOR_LABELS * (1 - mean) - 1, -_ACCURACY)
    edges = np.arange(GRID + 1) / GRID
    found = np.full((4, len(weighed)), np.nan)
    for start in range(0, len(weighed), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        density = weighed[part] @ table + prior
        density -= density.max(axis=1, keepdims=True)
        np.exp(density, out=density)
        density /= density.sum(axis=1, keepdims=True)
        below = np.zeros((len(density), GRID + 1))
        np.cumsum(density, axis=1, out=below[:, 1:])
        tail = (1 - LEVEL) / 2
        for row, (mass, level) in enumerate(zip(below, bar[part], strict=True)):
            low, high = np.interp([tail, 1 - tail], mass, edges)
            found[:, start + row] = (
                density[row] @ _ACCURACY,
                low,
                high,
                1 - np.interp(level, edges, mass),
            )
    found[:, weighed.sum(axis=1) < 0.5] = np.nan
    return Skill(*found)
