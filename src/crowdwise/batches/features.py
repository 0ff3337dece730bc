"""What describes the items, from a file: a matrix with ids beside it, or a table keyed by item."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.annotations import Annotations
from crowdwise.annotations.columns import find_columns, listed
from crowdwise.errors import InputError

TABLES = (".csv", ".tsv", ".parquet")
MAPPED = 2**28  # bytes; a larger .npy stays in its file, and batches read their rows from it
DAMAGE = (  # what the readers raise when a file is not what its name says
    *(OSError, EOFError, ValueError, MemoryError, zipfile.BadZipFile, zlib.error),
    pl.exceptions.PolarsError,
)


class Features(NamedTuple):
    """Row i of `x` describes items[i]; items is None where no file names any."""

    x: NDArray[Any]  # (N, …)
    items: Sequence[Any] | None

    def items_for(self, annotations: Annotations) -> Sequence[Any]:
        """The rows' items; where none are named, a crowd whose items are numbers counts rows."""
        if self.items is not None:
            return self.items
        if annotations.item_ids.dtype.kind != "i":
            raise InputError(
                f"the crowd's items have names (such as {annotations.item_ids[0]}), the rows of "
                "features have none; give a file with one item id for every row (--items)"
            )
        return range(len(self.x))


def read_features(
    path: str | Path, items: str | Path | None = None, item: str | None = None
) -> Features:
    """Read features from .npy, .npz (arrays `x` and `items`), .csv, .tsv or .parquet.

    A large .npy is memory-mapped, never read as a whole.

    Args:
        path: the file; a table needs a column that names the item, all others are numbers (in
            Parquet also lists of numbers, all of one length).
        items: for a matrix, a file with one item id per line, or an .npy of ids.
        item: a table's item column, if it has one of that name; found by its usual names if not.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in (".npy", ".npz", *TABLES):
        raise InputError(
            f"{path}: features are read from .npy, .npz, .csv, .tsv and .parquet files"
        )
    if items is not None and kind in TABLES:
        raise InputError(f"{path}: a table names its items itself; leave --items out")
    try:
        x, named = _table(file, item) if kind in TABLES else _matrix(file)
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(f"{path}: cannot be read as features ({_reason(error)})") from error
    if items is not None:
        named = _ids(Path(items))
    if x.ndim < 2 or x.dtype.kind not in "fiub" or 0 in x.shape[1:]:
        raise InputError(
            f"{path}: features must be numbers, a row for each item; this is {x.dtype} of shape "
            f"{x.shape}"
        )
    if named is not None and len(named) != len(x):
        raise InputError(f"{items or path}: {len(named)} item ids for {len(x)} rows of features")
    return Features(x, named)


def _matrix(file: Path) -> tuple[NDArray[Any], list[Any] | None]:
    if file.suffix.lower() == ".npy" and file.stat().st_size >= MAPPED:
        rows = np.load(file, mmap_mode="r", allow_pickle=False)
        if rows.flags.c_contiguous:  # else a row lies all over the file
            return rows, None
        del rows
    with file.open("rb") as stream:  # np.load would leave a damaged archive open
        found = np.load(stream, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found, None
        if "x" not in found:
            raise InputError(f"{file}: has arrays {listed(found.files)}; name the features x")
        return found["x"], found["items"].tolist() if "items" in found else None


def _table(file: Path, item: str | None) -> tuple[NDArray[Any], list[Any]]:
    if file.suffix.lower() == ".parquet":
        table = pl.read_parquet(file)
        column = _item_column(table.columns, item, file)
    else:
        comma = "\t" if file.suffix.lower() == ".tsv" else ","
        head = pl.read_csv(file, separator=comma, n_rows=0)
        column = _item_column(head.columns, item, file)
        # ids as they are written: 007 is not 7
        table = pl.read_csv(
            file, separator=comma, infer_schema_length=None, schema_overrides={column: pl.String}
        )
    ids = table[column].to_list()
    parts = [_numbers(values, ids, file) for values in table.drop(column)]
    if not parts:
        raise InputError(f"{file}: there is no column beside {column!r}; add the features")
    return np.concatenate(parts, axis=1), ids


def _item_column(columns: list[str], item: str | None, file: Path) -> str:
    return find_columns(columns, {"item": item if item in columns else None}, str(file))["item"]


def _numbers(column: pl.Series, ids: list[Any], file: Path) -> NDArray[np.float32]:
    """A column of numbers as (N, 1), one of lists of D numbers as (N, D)."""
    name, width = column.name, 1
    if isinstance(column.dtype, pl.Array):
        column = column.arr.to_list()
    if isinstance(column.dtype, pl.List):
        lengths = column.list.len().fill_null(0).to_numpy()
        width = max(int(lengths.max(initial=0)), 1)
        odd = np.flatnonzero(lengths != width)
        if len(odd):
            raise InputError(
                f"{file}: item {ids[odd[0]]} has {lengths[odd[0]]} numbers in column {name!r}, "
                f"others have {width}; give every item as many"
            )
        column = column.explode()
    if not column.dtype.is_numeric() and column.dtype != pl.Boolean:
        raise InputError(f"{file}: column {name!r} holds {column.dtype}, no numbers; leave it out")
    missing = column.is_null().arg_true()
    if len(missing):
        raise InputError(
            f"{file}: item {ids[missing[0] // width]} has no value in column {name!r}; "
            "fill it in or drop the item"
        )
    return column.cast(pl.Float32).to_numpy().reshape(-1, width)


def _ids(file: Path) -> list[Any]:
    try:
        if file.suffix.lower() == ".npy":
            ids: list[Any] = np.load(file, allow_pickle=False).tolist()
            return ids
        return file.read_text(encoding="utf-8-sig").rstrip().splitlines()
    except DAMAGE as error:
        raise InputError(
            f"{file}: cannot be read as item ids, one per line ({_reason(error)})"
        ) from error


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).partition("\n")[0] or type(error).__name__
