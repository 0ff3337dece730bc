"""What people hand over, as the rooms below take it: rows of features, a crowd's labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdwise.annotations import Annotations
from crowdwise.errors import InputError


def as_annotations(given: Any) -> Annotations:
    """Annotations from themselves, from a matrix of items × annotators, or from a data frame."""
    if isinstance(given, Annotations):
        return given
    if isinstance(given, np.ndarray | list | tuple):
        return Annotations.from_dense(given)
    return Annotations.from_frame(given)


def rows(X: ArrayLike) -> NDArray[Any]:
    """Features as an array with a row for each item; a memory-mapped one stays in its file."""
    array = X if isinstance(X, np.memmap) else np.asarray(X)
    if array.ndim < 2:
        raise InputError(f"X has shape {array.shape}; give an array with a row for each item")
    return array
