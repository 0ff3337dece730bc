"""The crowd's table over the rows of a feature matrix: row i is item i."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError


def aligned(annotations: Annotations, n_rows: int, items: Sequence[Any] | None) -> Annotations:
    """Annotations whose item i is what row i describes.

    Args:
        annotations: the crowd's table.
        n_rows: rows of features.
        items: ids the rows describe; None: the rows follow `item_ids`. Rows nobody labelled are
            legal; labels of items without a row are not.

    Example:
        >>> crowd = Annotations.from_triples(["a", "b"], ["ann", "ann"], [0, 1])
        >>> aligned(crowd, 3, ["c", "b", "a"]).item.tolist()
        [2, 1]
    """
    if items is None:
        if n_rows != annotations.n_items:
            raise InputError(
                f"there are {n_rows} rows of features and {annotations.n_items} items in the "
                "crowd's table; say which item each row describes (items=…)"
            )
        return annotations
    ids = np.asarray(items)
    if len(ids) != n_rows:
        raise InputError(f"{len(ids)} item ids for {n_rows} rows of features; give one id a row")
    row_of = {item: row for row, item in enumerate(ids.tolist())}
    if len(row_of) < n_rows:
        raise InputError(f"item {_repeated(ids)!r} has more than one row of features; give one")
    rows = np.array([row_of.get(item, -1) for item in annotations.item_ids.tolist()], np.int64)
    lost = np.flatnonzero((rows < 0) & (np.bincount(annotations.item, minlength=len(rows)) > 0))
    if len(lost):
        first = annotations.item_ids[lost[0]]
        raise InputError(
            f"item {first!s} was labelled, but no row of features describes it ({len(lost)} such "
            "items); give features for every labelled item, or leave its labels out"
        )
    return Annotations(
        rows[annotations.item].astype(np.int32),
        annotations.annotator,
        annotations.label,
        ids,
        annotations.annotator_ids,
        annotations.classes,
    )


def _repeated(ids: np.ndarray[Any, Any]) -> Any:
    values, counts = np.unique(ids, return_counts=True)
    return values[counts > 1].tolist()[0]
