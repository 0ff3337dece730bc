"""What describes the items, from a file: a matrix with ids beside it, or a table keyed by item."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.errors import InputError

ITEM_NAMES = ("item", "task", "id", "item_id", "task_id", "example", "name")


class Features(NamedTuple):
    """Row i of `x` describes items[i]; items is None where the file names none."""

    x: NDArray[Any]  # (N, …)
    items: Sequence[Any] | None


def read_features(path: str | Path, items: str | Path | None = None) -> Features:
    """Read features from .npy, .npz (arrays `x` and `items`), .csv, .tsv or .parquet.

    Args:
        path: the file; a table needs a column that names the item, all others are numbers.
        items: for a matrix, a file with one item id per line, or an .npy of ids.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{path}: there is no such file of features; check the name")
    try:
        match file.suffix.lower():
            case ".npy":
                x, named = np.load(file, allow_pickle=False), None
            case ".npz":
                x, named = _archive(file)
            case ".csv" | ".tsv" | ".parquet":
                x, named = _table(file)
            case _:
                raise InputError(
                    f"{path}: features are read from .npy, .npz, .csv, .tsv and .parquet files"
                )
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        if isinstance(error, InputError):
            raise
        first = str(error).partition("\n")[0]
        raise InputError(f"{path}: cannot be read as features ({first})") from error
    if items is not None:
        named = _ids(Path(items))
    if x.ndim < 2 or x.dtype.kind not in "fiub":
        raise InputError(
            f"{path}: features must be numbers, a row per item, not {x.dtype} {x.shape}"
        )
    if named is not None and len(named) != len(x):
        raise InputError(f"{path}: {len(x)} rows of features, but {len(named)} item ids")
    return Features(x, named)


def _archive(file: Path) -> tuple[NDArray[Any], list[Any] | None]:
    with np.load(file, allow_pickle=False) as arrays:
        if "x" not in arrays:
            raise InputError(f"{file}: has arrays {', '.join(arrays)}; name the features x")
        return arrays["x"], arrays["items"].tolist() if "items" in arrays else None


def _table(file: Path) -> tuple[NDArray[Any], list[Any]]:
    if file.suffix.lower() == ".parquet":
        table = pl.read_parquet(file)
    else:
        table = pl.read_csv(file, separator="\t" if file.suffix.lower() == ".tsv" else ",")
    by_name = {name.lower(): name for name in table.columns}
    column = next((by_name[name] for name in ITEM_NAMES if name in by_name), None)
    if column is None:
        raise InputError(
            f"{file}: no column names the item (columns: {', '.join(table.columns[:8])}); "
            f"call it {ITEM_NAMES[0]}"
        )
    numbers = table.drop(column)
    for name, kind in numbers.schema.items():
        if not kind.is_numeric() and kind != pl.Boolean:
            raise InputError(f"{file}: column {name!r} holds {kind}, not numbers; leave it out")
    missing = numbers.select(pl.any_horizontal(pl.all().is_null())).to_series().arg_true()
    if len(missing):
        raise InputError(f"{file}, row {missing[0] + 2}: a value is missing; fill it in")
    return numbers.cast(pl.Float32).to_numpy(), table[column].to_list()


def _ids(file: Path) -> list[Any]:
    try:
        if file.suffix.lower() == ".npy":
            ids: list[Any] = np.load(file, allow_pickle=False).tolist()
        else:
            ids = file.read_text(encoding="utf-8").split()
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as item ids, one per line ({error})") from error
    if all(isinstance(item, str) and item.lstrip("-").isdigit() for item in ids):
        return [int(item) for item in ids]
    return ids
