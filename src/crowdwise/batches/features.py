"""What describes the items, from a file: a matrix with ids beside it, or a table keyed by item."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.annotations import Annotations
from crowdwise.annotations.columns import find_columns, listed
from crowdwise.annotations.parquet import whole_table
from crowdwise.batches.source import Source
from crowdwise.batches.text import WordVectors
from crowdwise.errors import InputError
from crowdwise.files import refuse_bomb

TABLES = (".csv", ".tsv", ".parquet")
USUAL_TEXT = ("text", "sentence", "document", "content", "body", "message", "comment", "review")
MAPPED = 2**28  # bytes; a larger .npy stays in its file, and batches read their rows from it
DAMAGE = (  # what the readers raise when a file is not what its name says
    *(OSError, EOFError, ValueError, TypeError, RuntimeError, MemoryError, TokenError),
    *(zipfile.BadZipFile, zlib.error, pl.exceptions.PolarsError, pl.exceptions.PanicException),
)
Parts = tuple[NDArray[Any], list[Any] | None, list[str] | None]  # rows, their items, columns


class Features(NamedTuple):
    """Row i of `x` describes items[i]; items is None where no file names any."""

    x: NDArray[Any] | Source  # (N, …)
    items: Sequence[Any] | None
    note: str | None = None  # what was decided on the way, for people
    words: WordVectors | None = None  # where texts became vectors by their words
    columns: Sequence[str] | None = None  # their names, where `x` comes from a table

    def constant(self) -> list[str]:
        """Columns that are the same for every item; of a matrix of numbers that is in memory.

        Example:
            >>> Features(np.array([[1, 5], [2, 5]]), None).constant()
            ['column 1 (counted from 0)']
        """
        x = self.x
        if not isinstance(x, np.ndarray) or isinstance(x, np.memmap) or self.words is not None:
            return []
        if x.ndim != 2 or len(x) < 2:
            return []
        same = np.flatnonzero((x == x[0]).all(axis=0)).tolist()
        if self.columns is not None:
            return [repr(self.columns[j]) for j in same]
        return [f"column {j} (counted from 0)" for j in same]

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
    path: str | Path,
    items: str | Path | None = None,
    item: str | None = None,
    strict: bool = False,
) -> Features:
    """Read numbers from .npy, .npz (arrays `x` and `items`), .csv, .tsv or .parquet.

    A large .npy is memory-mapped, never read as a whole.

    Args:
        path: the file; a table needs a column that names the item, all others are numbers (in
            Parquet also lists of numbers, all of one length).
        items: for a matrix, a file with one item id per line, or an .npy of ids.
        item: a table's item column, if it has one of that name; found by its usual names if not.
        strict: the item column has to be of that name.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in (".npy", ".npz", *TABLES):
        raise InputError(
            f"{path}: features are read from .npy, .npz, .csv, .tsv and .parquet files, and from "
            "folders of images"
        )
    if items is not None and kind in TABLES:
        raise InputError(f"{path}: a table names its items itself; leave --items out")
    try:
        x, named, columns = _table(file, item, strict) if kind in TABLES else _matrix(file)
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
    return Features(x, named, columns=columns)


def read_texts(
    path: str | Path,
    item: str | None = None,
    columns: Sequence[str] | None = None,
    strict: bool = False,
) -> tuple[list[str], list[Any]]:
    """Texts and the items they describe, from .csv, .tsv or .parquet.

    Args:
        path: a table with a column that names the item; rows that say the same are one.
        item, strict: as `read_features` takes them.
        columns: which hold the text, joined line by line; None: the only other one with text.
    """
    file = Path(path)
    if file.suffix.lower() not in TABLES:
        raise InputError(f"{path}: texts are read from .csv, .tsv and .parquet files")
    try:
        table, named = _open_table(file, item, strict)
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(f"{path}: cannot be read as texts ({_reason(error)})") from error
    columns = columns or _text_column(table.drop(named), file)
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise InputError(
            f"{path}: there is no column {missing[0]!r} for the text; columns found: "
            f"{listed(table.columns)}"
        )
    table = table.select(named, *columns).unique(maintain_order=True)
    _once(table[named], file)
    ids = table[named].to_list()
    for name in columns:
        empty = table[name].is_null().arg_true()
        if len(empty):
            raise InputError(
                f"{path}: item {ids[empty[0]]} has no text in column {name!r}; fill it in or drop "
                "the item"
            )
    joined = table.select(
        pl.concat_str([pl.col(n).cast(pl.String) for n in columns], separator="\n")
    )
    return joined.to_series().to_list(), ids


def _text_column(table: pl.DataFrame, file: Path) -> list[str]:
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    usual = [name for name in texts if name.lower() in USUAL_TEXT] if len(texts) > 1 else texts
    if len(usual) == 1:
        return usual
    found = f"{listed(texts)} could each be the text" if texts else "no column holds text"
    raise InputError(f"{file}: {found}; name it with --text COLUMN (repeatable)")


def _matrix(file: Path) -> Parts:
    if file.suffix.lower() == ".npy" and file.stat().st_size >= MAPPED:
        rows = np.load(file, mmap_mode="r", allow_pickle=False)
        if rows.flags.c_contiguous:  # else a row lies all over the file
            return rows, None, None
        del rows
    # np.load would leave a damaged archive open, and warns of headers that Python 2 wrote
    with file.open("rb") as stream, warnings.catch_warnings(action="ignore"):
        found = np.load(stream, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found, None, None
        if "x" not in found:
            raise InputError(f"{file}: has arrays {listed(found.files)}; name the features x")
        for member in found.zip.infolist():
            refuse_bomb(file, member.file_size, file.stat().st_size)
        arrays = {name: found[name] for name in ("x", "items") if name in found}
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):
                raise InputError(f"{file}: {name} is no array; save it with np.savez")
        return arrays["x"], arrays["items"].tolist() if "items" in arrays else None, None


def _table(file: Path, item: str | None, strict: bool) -> Parts:
    table, column = _open_table(file, item, strict)
    _once(table[column], file)
    ids = table[column].to_list()
    described = table.drop(column)
    parts = [_numbers(values, ids, file) for values in described]
    if not parts:
        raise InputError(f"{file}: there is no column beside {column!r}; add the features")
    names = [
        name if part.shape[1] == 1 else f"{name}[{j}]"
        for name, part in zip(described.columns, parts, strict=True)
        for j in range(part.shape[1])
    ]
    return np.concatenate(parts, axis=1), ids, names


def _open_table(file: Path, item: str | None, strict: bool) -> tuple[pl.DataFrame, str]:
    """The table and the name of its item column; ids are as they are written: 007 is not 7."""
    if file.suffix.lower() == ".parquet":
        table = whole_table(file)
        return table, _item_column(table.columns, item, file, strict)
    comma = "\t" if file.suffix.lower() == ".tsv" else ","
    column = _item_column(pl.read_csv(file, separator=comma, n_rows=0).columns, item, file, strict)
    as_written = {column: pl.String}
    table = pl.read_csv(
        file, separator=comma, infer_schema_length=None, schema_overrides=as_written
    )
    return table, column


def _once(items: pl.Series, file: Path) -> None:
    twice = items.is_duplicated().arg_true()
    if len(twice):
        raise InputError(
            f"{file}: item {items[twice[0]]} has more than one row; keep one, or name the column "
            f"of the items with --features-item (taken: {items.name!r})"
        )


def _item_column(columns: list[str], item: str | None, file: Path, strict: bool) -> str:
    if strict and item not in columns:
        raise InputError(f"{file}: there is no column {item!r}; columns found: {listed(columns)}")
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
        raise InputError(
            f"{file}: column {name!r} holds {column.dtype}, no numbers; leave it out, or "
            "read texts with --embed tfidf"
        )
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
            with file.open("rb") as stream:
                ids = np.load(stream, allow_pickle=False)
            if not isinstance(ids, np.ndarray) or ids.ndim != 1:
                raise ValueError("no list of ids")
            return list(ids.tolist())
        return file.read_text(encoding="utf-8-sig").rstrip().splitlines()
    except DAMAGE as error:
        raise InputError(
            f"{file}: cannot be read as item ids, one per line ({_reason(error)})"
        ) from error


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).partition("\n")[0][:200] or type(error).__name__
