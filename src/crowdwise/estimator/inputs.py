"""What people hand over, as the rooms below take it: rows of features, a crowd's labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch.utils.data import Dataset

from crowdwise.annotations import Annotations
from crowdwise.annotations.columns import listed
from crowdwise.annotations.known import truth_codes
from crowdwise.batches.mapped import source_of
from crowdwise.batches.source import Source, StreamSource
from crowdwise.errors import InputError


def as_annotations(given: Any) -> Annotations:
    """Annotations from themselves, from a matrix of items × annotators, or from a data frame."""
    if isinstance(given, Annotations):
        return given
    if isinstance(given, np.ndarray | list | tuple):
        return Annotations.from_dense(given)
    return Annotations.from_frame(given)


def as_source(X: ArrayLike | Source | Dataset[Any]) -> Source:
    """Features as a source of rows: an array is kept whole, a file or data set is streamed."""
    if isinstance(X, Source):
        return X
    if isinstance(X, Dataset):
        return StreamSource(X)
    array = X if isinstance(X, np.memmap) else np.asarray(X)
    if array.ndim < 2:
        raise InputError(f"X has shape {array.shape}; give an array with a row for each item")
    return source_of(array)


def gold_codes(annotations: Annotations, gold: Any) -> NDArray[np.int64]:
    """(N,) classes of the items whose answer is known for certain, -1 for all others.

    Args:
        gold: a mapping from item id to class, or classes along item_ids with None where unknown.
    """
    codes = truth_codes(annotations, gold)
    if not (codes >= 0).any():
        raise InputError("gold holds no answer at all; leave it out, or give one item its class")
    outside = np.flatnonzero(codes == annotations.n_classes)
    if len(outside):
        raise InputError(
            f"gold: item {annotations.item_ids[outside[0]]} is of a class that the crowd never "
            f"gave (its classes: {listed([str(c) for c in annotations.classes.tolist()])}); repair "
            "it, or name every class when making the Annotations"
        )
    return codes
