"""The crowd's table over the rows of a feature matrix: row i is item i."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.annotations.kinds import as_kind_of
from crowdwise.annotations.table import Annotations
from crowdwise.annotations.vocabulary import encode
from crowdwise.errors import InputError


def aligned(annotations: Annotations, n_rows: int, items: Iterable[Any] | None) -> Annotations:
    """Annotations whose item i is what row i describes.

    Args:
        annotations: the crowd's table.
        n_rows: rows of features.
        items: ids the rows describe, as text or numbers; None: the rows follow `item_ids`. Rows
            nobody labelled are legal; labels of items without a row are not.

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
    codes, names = encode(_like(items, annotations.item_ids), "item", _row)
    if len(codes) != n_rows:
        raise InputError(f"{len(codes)} item ids for {n_rows} rows of features; give one id a row")
    if len(names) < n_rows:
        twice = names[np.bincount(codes).argmax()]
        raise InputError(f"item {twice} has more than one row of features; keep one")
    rows = _places(annotations.item_ids, names, codes)
    lost = np.flatnonzero((rows < 0) & (np.bincount(annotations.item, minlength=len(rows)) > 0))
    if len(lost):
        raise InputError(
            f"item {annotations.item_ids[lost[0]]} was labelled, but no row of features describes "
            f"it ({len(lost)} such items; the rows describe {names[:3].tolist()}, …); give "
            "features for every labelled item, or leave its labels out"
        )
    return replace(annotations, item=rows[annotations.item], item_ids=names[codes])


def _like(items: Iterable[Any], item_ids: NDArray[Any]) -> Any:
    """The ids as the crowd's are, text or numbers; numbers for numbers stay an array."""
    if isinstance(items, range):
        items = np.arange(items.start, items.stop, items.step)
    numbers = isinstance(items, np.ndarray) and items.dtype.kind == item_ids.dtype.kind == "i"
    return items if numbers else as_kind_of(items, item_ids)


def _places(
    item_ids: NDArray[Any], names: NDArray[Any], codes: NDArray[np.int32]
) -> NDArray[np.int32]:
    """(N,) the row whose name an item has, -1 where there is none; names[codes] are the rows'."""
    row = np.empty(len(names), np.int32)
    row[codes] = np.arange(len(codes), dtype=np.int32)
    if len(names) and item_ids.dtype.kind == names.dtype.kind != "O":
        near = np.searchsorted(names, item_ids).clip(max=len(names) - 1)
        return np.where(names[near] == item_ids, row[near], np.int32(-1))
    place = dict(zip(names.tolist(), row.tolist(), strict=True))
    return np.array([place.get(item, -1) for item in item_ids.tolist()], np.int32)


def _row(index: int) -> str:
    return f"the ids of the rows of features, entry {index + 1}"
