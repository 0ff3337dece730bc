"""Counting votes: the shares of each class on each item, and the majority's label."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdwise.aggregate.packed import Floats
from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError

Ties = Literal["random", "lowest"]
_CHUNK = 1 << 22  # labels counted at a time


def votes(annotations: Annotations) -> NDArray[np.int64]:
    """(N, C) number of times each item was given each class."""
    n_classes = annotations.n_classes
    counted = np.zeros(annotations.n_items * n_classes, dtype=np.int64)
    for start in range(0, len(annotations), _CHUNK):
        rows = slice(start, start + _CHUNK)
        cell = annotations.item[rows].astype(np.int64) * n_classes + annotations.label[rows]
        np.add.at(counted, cell, 1)
    return counted.reshape(annotations.n_items, n_classes)


def vote_shares(annotations: Annotations) -> Floats:
    """(N, C) share of each class among an item's labels; 1/C each where nobody labelled it.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], [0, 1, 0], ["cat", "dog", "dog"])
        >>> vote_shares(crowd)
        array([[0.5, 0.5],
               [0. , 1. ]])
    """
    counted = votes(annotations).astype(np.float64)
    given = counted.sum(axis=1, keepdims=True)
    counted /= np.maximum(given, 1)
    counted[given[:, 0] == 0] = 1 / max(annotations.n_classes, 1)
    return counted


def majority_labels(
    annotations: Annotations, ties: Ties = "random", seed: int = 0
) -> NDArray[np.int32]:
    """(N,) code of the class with most votes; an item nobody labelled is a tie of all classes.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], [0, 1, 0], ["cat", "dog", "dog"])
        >>> majority_labels(crowd, ties="lowest").tolist()
        [0, 1]
    """
    return leaders(votes(annotations), ties, seed)


def leaders(scores: NDArray[np.int64] | Floats, ties: Ties, seed: int) -> NDArray[np.int32]:
    """(N,) column of each row's largest score, drawn among equals or the lowest of them."""
    if ties not in ("random", "lowest"):
        raise InputError(f"ties={ties!r} is unknown; choose 'random' or 'lowest'")
    codes: NDArray[np.int32] = scores.argmax(axis=1).astype(np.int32)
    if ties == "random":
        best = np.take_along_axis(scores, codes[:, None], axis=1)
        tied = np.flatnonzero((scores == best).sum(axis=1) > 1)
        draws = np.random.default_rng(seed).random((len(tied), scores.shape[1]))
        codes[tied] = np.where(scores[tied] == best[tied], draws, -1.0).argmax(axis=1)
    return codes
