"""What a data set is, once loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.annotations.table import Annotations

Truth = NDArray[np.int64]  # codes into `classes`


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features or images, the crowd's labels, the truth, and the splits.

    Row i of `x_train` is item i of `annotations`. Vectors are (N, D), images (N, channels, height,
    width) with values from 0 to 1; float32, or float16 where the file has no more (LabelMe).
    `annotations` is None where the crowd must be simulated.
    """

    name: str
    classes: NDArray[Any]  # (C,)
    x_train: NDArray[Any]
    y_train: Truth | None
    x_test: NDArray[Any]
    y_test: Truth
    annotations: Annotations | None = None
    x_valid: NDArray[Any] | None = None
    y_valid: Truth | None = None
    info: Mapping[str, Any] = field(default_factory=dict)


def crowd(
    item: NDArray[Any],
    annotator: NDArray[Any],
    label: NDArray[Any],
    n_items: int,
    annotator_ids: NDArray[Any],
    classes: NDArray[Any],
) -> Annotations:
    """Annotations over items 0..n_items-1 from codes; items and annotators may have no label."""
    return Annotations(
        item.astype(np.int32),
        annotator.astype(np.int32),
        label.astype(np.int32),
        np.arange(n_items),
        annotator_ids,
        classes,
    )


def first_of_each_class(y: NDArray[Any], share: float) -> NDArray[np.bool_]:
    """Which rows are among the first `share` of their class, in the order of the file.

    Example:
        >>> first_of_each_class(np.array([0, 1, 0, 1]), 0.5)
        array([ True,  True, False, False])
    """
    first = np.zeros(len(y), dtype=bool)
    for code in np.unique(y):
        rows = np.flatnonzero(y == code)
        first[rows[: round(share * len(rows))]] = True
    return first


def shares(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Bytes as shares of full brightness, 0 to 1."""
    brightness: NDArray[np.float32] = np.multiply(images, np.float32(1 / 255), dtype=np.float32)
    return brightness
