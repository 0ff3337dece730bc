"""Between `Annotations` and data frames, records, dense matrices and grouped views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from crowdwise.annotations.columns import find_columns
from crowdwise.annotations.kinds import as_kind_of
from crowdwise.errors import InputError

if TYPE_CHECKING:
    from crowdwise.annotations.table import Annotations


def frame_columns(
    df: Any, item: str | None, annotator: str | None, label: str | None
) -> tuple[dict[str, Any], str]:
    """The three columns as polars series or NumPy arrays, and the kind of frame they are from."""
    try:
        frame = nw.from_native(df)
    except TypeError as error:
        raise InputError(
            f"a {type(df).__name__} is no data frame; give pandas, polars or pyarrow, "
            "or use from_triples or from_records"
        ) from error
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    names = find_columns(eager.columns, _roles(item, annotator, label), "the data frame")
    columns = {role: _values(eager.get_column(name)) for role, name in names.items()}
    return columns, eager.implementation.value


def _values(column: nw.Series[Any]) -> Any:
    native = column.to_native()
    return native if isinstance(native, pl.Series) else column.to_numpy()


def _roles(item: str | None, annotator: str | None, label: str | None) -> dict[str, str | None]:
    return {"item": item, "annotator": annotator, "label": label}


def record_columns(
    records: Sequence[Mapping[str, Any]],
    item: str | None,
    annotator: str | None,
    label: str | None,
) -> dict[str, list[Any]]:
    """The three columns of a list of mappings; a key that a record lacks counts as missing."""
    if not records:
        return {"item": [], "annotator": [], "label": []}
    names = find_columns(list(records[0]), _roles(item, annotator, label), "the records")
    return {role: [record.get(name) for record in records] for role, name in names.items()}


def to_frame(annotations: Annotations) -> Any:
    """Item, annotator and label of every row as a frame of the kind that went in."""
    columns = {
        "item": series(annotations.item_ids).gather(annotations.item),
        "annotator": series(annotations.annotator_ids).gather(annotations.annotator),
        "label": series(annotations.classes).gather(annotations.label),
    }
    frame = pl.DataFrame(columns)
    if annotations.frame_kind == "polars":
        return frame
    values = {name: column.to_list() for name, column in columns.items()}
    kind: Any = annotations.frame_kind
    return nw.from_dict(values, backend=kind).to_native()


def series(vocabulary: NDArray[Any]) -> pl.Series:
    """A vocabulary as a polars column; integers beyond 64 bits become text."""
    if vocabulary.dtype.kind in "bi":
        return pl.Series(vocabulary)
    return pl.Series([str(entry) for entry in vocabulary.tolist()], dtype=pl.String)


def dense_triples(
    matrix: ArrayLike, missing: Any
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any], tuple[int, int]]:
    """Row and column codes and values of a matrix's observed cells, and the matrix's shape."""
    cells = np.asarray(matrix)
    if cells.ndim != 2:
        raise InputError(
            f"a dense matrix has items as rows and annotators as columns, "
            f"this one has {cells.ndim} dimension(s)"
        )
    observed = np.ones(cells.shape, dtype=bool)
    if cells.dtype.kind == "O":
        flat = [not _is_missing(cell, missing) for cell in cells.ravel().tolist()]
        observed = np.array(flat, dtype=bool).reshape(cells.shape)
    elif cells.dtype.kind == "f":
        observed = ~np.isnan(cells)
    if cells.dtype.kind in "iufU" and isinstance(missing, str) == (cells.dtype.kind == "U"):
        observed &= cells != missing
    item, annotator = np.nonzero(observed)
    rows, columns = item.astype(np.int32), annotator.astype(np.int32)
    return rows, columns, cells[item, annotator], (cells.shape[0], cells.shape[1])


def _is_missing(cell: Any, missing: Any) -> bool:
    return (
        cell is None
        or type(cell).__name__ in ("NAType", "NaTType")
        or cell != cell
        or (cell == missing and not isinstance(cell, bool))
    )


def dense(annotations: Annotations, missing: Any) -> NDArray[Any]:
    """Class values as items × annotators; integers where they and `missing` are integers."""
    if missing in annotations.classes.tolist():
        raise InputError(f"{missing!r} is one of the classes; mark what is missing otherwise")
    whole = annotations.classes.dtype.kind == "i" and type(missing) is int
    shape = (annotations.n_items, annotations.n_annotators)
    matrix = np.full(shape, missing, dtype=np.int64 if whole else object)
    matrix[annotations.item, annotations.annotator] = annotations.classes[annotations.label]
    return matrix


def grouped(codes: NDArray[np.int32], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Offsets (n+1,) and row numbers (L,) by code, rows in order: a counting sort, O(L + n)."""
    pointers = np.arange(len(codes) + 1)
    by_row = sparse.csr_array(
        (np.ones(len(codes), dtype=bool), codes, pointers), shape=(len(codes), n)
    )
    by_code = by_row.tocsc()
    offsets, order = by_code.indptr.astype(np.int64), by_code.indices.astype(np.int64)
    offsets.setflags(write=False)
    order.setflags(write=False)
    return offsets, order


def item_codes(items: ArrayLike, item_ids: NDArray[Any]) -> NDArray[np.int64]:
    """Codes of the ids wanted, or of a boolean mask along item_ids."""
    wanted = np.asarray(items) if not isinstance(items, list | tuple | set) else None
    if wanted is not None and wanted.dtype == bool:
        if wanted.shape != item_ids.shape:
            raise InputError(
                f"the mask has {wanted.size} entries for {len(item_ids)} items; give one per item"
            )
        return np.flatnonzero(wanted)
    names = as_kind_of(list(items), item_ids)  # type: ignore[arg-type]
    place = {name: code for code, name in enumerate(item_ids.tolist())}
    codes = np.array([place.get(name, -1) for name in names], dtype=np.int64)
    if (codes < 0).any():
        raise InputError(f"no item is called {names[int((codes < 0).argmax())]!r}")
    if len(np.unique(codes)) < len(codes):
        raise InputError("an item is named twice; name each item once")
    return codes
