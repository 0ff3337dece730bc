"""Items that are hard for everyone, and items that look like another class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdwise.errors import InputError
from crowdwise.simulate.hashing import generator

Labels = NDArray[np.int32]

_ROWS = 1 << 14  # items compared with the class means at a time


@dataclass(frozen=True)
class Difficulty:
    """With probability d_i the item speaks instead of the annotator's pattern.

    An annotator whose pattern looks at the item (all but dummy) then labels item i with a row
    (1 - d_i) T[y_i] + d_i q_i, where q_i is uniform over the classes, or, when features are
    given, all on the class that item i resembles most apart from its own.
    """

    share: NDArray[np.float32]  # d_i, (N,)
    lookalike: Labels | None  # the class an item resembles, (N,)

    def mixed(self, truth: Labels, n_classes: int) -> tuple[NDArray[np.float64], ...]:
        """Return, per true class, the mean of d_i and of d_i q_i. (C,), (C, C)"""
        count = np.maximum(np.bincount(truth, minlength=n_classes), 1)
        mean = np.bincount(truth, weights=self.share, minlength=n_classes) / count
        if self.lookalike is None:
            return mean, np.repeat(mean[:, None] / n_classes, n_classes, axis=1)
        cell = truth.astype(np.int64) * n_classes + self.lookalike
        mass = np.bincount(cell, weights=self.share, minlength=n_classes**2)
        return mean, mass.reshape(n_classes, n_classes) / count[:, None]


def difficulty_of(
    difficulty: float | ArrayLike | None,
    features: ArrayLike | None,
    truth: Labels,
    n_classes: int,
    seed: int,
) -> Difficulty | None:
    """Turn the options `difficulty` (a mean, or one number per item) and `features` into d and q.

    A mean m draws d_i from Beta(2m, 2(1 - m)): most items easy, a few hard. With features the
    hardest places go to the items that lie closest to another class's mean.
    """
    if difficulty is None:
        if features is not None:
            raise InputError("features say how items are hard; give difficulty too, like 0.2")
        return None
    given = np.asarray(difficulty, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != len(truth)):
        raise InputError(
            f"difficulty has shape {given.shape}; give one number, or one for each of the"
            f" {len(truth)} items"
        )
    if not ((given >= 0) & (given <= 1)).all():
        raise InputError("difficulty must lie between 0 and 1; it is a probability")
    share = given if given.ndim else _spread(float(given), len(truth), seed)
    if features is None:
        return Difficulty(share.astype(np.float32), None)
    lookalike, margin = _resemblance(np.asarray(features), truth, n_classes)
    if not given.ndim:
        by_margin = np.empty_like(share)
        by_margin[np.argsort(margin, kind="stable")] = np.sort(share)
        share = by_margin
    return Difficulty(share.astype(np.float32), lookalike)


def _spread(mean: float, n_items: int, seed: int) -> NDArray[np.float64]:
    if mean in (0.0, 1.0):
        return np.full(n_items, mean)
    return generator(seed, "difficulty").beta(2 * mean, 2 * (1 - mean), n_items)


def _resemblance(
    features: NDArray[np.float64], truth: Labels, n_classes: int
) -> tuple[Labels, NDArray[np.float64]]:
    """Return each item's nearest class mean but its own, and how much nearer it is. (N,), (N,)"""
    if len(features) != len(truth):
        raise InputError(f"features have {len(features)} rows for {len(truth)} items")
    x = features.reshape(len(features), -1)
    count = np.bincount(truth, minlength=n_classes)
    if (count > 0).sum() < 2:
        raise InputError("features need items of two classes at least to say what looks alike")
    mean = np.zeros((n_classes, x.shape[1]))
    for c in np.flatnonzero(count):
        mean[c] = x[truth == c].mean(axis=0, dtype=np.float64)
    if not np.isfinite(mean).all():
        raise InputError("features hold numbers that are not finite; repair or drop these items")
    lookalike = np.empty(len(x), dtype=np.int32)
    margin = np.empty(len(x))
    for start in range(0, len(x), _ROWS):
        block = slice(start, start + _ROWS)
        own = truth[block]
        # ‖x - m‖² without ‖x‖², which is the same for every class. (rows, C)
        distance = (mean**2).sum(axis=1) - 2 * (x[block].astype(np.float64) @ mean.T)
        distance[:, count == 0] = np.inf
        rows = np.arange(len(own))
        to_own = distance[rows, own]
        distance[rows, own] = np.inf
        lookalike[block] = distance.argmin(axis=1)
        margin[block] = to_own - distance.min(axis=1)
    return lookalike, margin
