"""The true labels a crowd is made from: read from a file, or made up."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from crowdwise.errors import InputError
from crowdwise.files import whole
from crowdwise.simulate.hashing import generator

if TYPE_CHECKING:
    import polars as pl

ITEM_NAMES = ("item", "task", "item_id", "id", "example", "index")
LABEL_NAMES = ("label", "truth", "true_label", "gold", "ground_truth", "target", "class", "y")


@dataclass(frozen=True)
class Truth:
    """One true label per item, and what the items are called (None: by row number)."""

    label: NDArray[Any]  # (N,)
    item_ids: pl.Series | None  # (N,)


def made_up(n_items: int, n_classes: int, seed: int) -> Truth:
    """Draw true labels uniformly from 0..n_classes-1."""
    if n_items < 1 or n_classes < 2:
        raise InputError(
            f"{n_items} items of {n_classes} classes: give at least one item and two classes"
        )
    label = generator(seed, "truth").integers(0, n_classes, n_items, dtype=np.int32)
    return Truth(label, None)


def read_truth(path: str | Path, item: str | None = None, label: str | None = None) -> Truth:
    """Read true labels from .npy (labels in item order), .parquet or .csv (`-`: CSV from stdin).

    A table's columns are found by their usual names unless given; without an item column the
    items are the rows.
    """
    if Path(path).suffix == ".npy":
        return Truth(load_array(path), None)
    import polars as pl

    from crowdwise.annotations.parquet import whole_table

    try:
        if Path(path).suffix == ".parquet":
            frame = whole_table(Path(path))
        else:
            source = sys.stdin.buffer.read() if str(path) == "-" else Path(path)
            frame = pl.read_csv(source, infer_schema_length=None)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({_why(error)}); check the name") from error
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{path}: is not a table ({reason}); give a CSV or Parquet file"
        ) from error
    label_column = _column(frame, path, label, LABEL_NAMES)
    if label_column is None:
        raise InputError(
            f"{path}: no label column among {', '.join(frame.columns)}; name it with --label-column"
        )
    labels = frame[label_column]
    if labels.null_count():
        row = labels.is_null().arg_true()[0] + 1
        raise InputError(
            f"{path}, row {row}: column {label_column!r} is empty; fill it in or drop the row"
        )
    item_column = _column(frame, path, item, ITEM_NAMES)
    if item_column is None:
        return Truth(labels.to_numpy(), None)
    ids = frame[item_column]
    if ids.is_null().any() or ids.is_duplicated().any():
        row = (ids.is_null() | ~ids.is_first_distinct()).arg_true()[0] + 1
        raise InputError(
            f"{path}, row {row}: item {ids[row - 1]!r} is empty or stands there twice;"
            " give every item one true label"
        )
    return Truth(labels.to_numpy(), ids.alias("item"))


def load_array(path: str | Path) -> NDArray[Any]:
    """Load a .npy file, never unpickling anything."""
    try:
        with Path(path).open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({_why(error)}); check the name") from error
    except (ValueError, TypeError, MemoryError, EOFError, BadZipFile, TokenError) as error:
        raise InputError(f"{path}: is not an array of numbers or text in .npy form") from error
    if not isinstance(loaded, np.ndarray):
        raise InputError(f"{path}: is an archive of arrays; give one array in .npy form")
    return loaded


def write_truth(path: str | Path, truth: Truth) -> None:
    """Write item and label as .csv or .parquet, or the labels alone as .npy."""
    if Path(path).suffix not in (".npy", ".parquet", ".csv"):
        raise InputError(f"{path}: truth is written as .csv, .parquet or .npy; choose one of these")
    with whole(path) as temporary:
        if Path(path).suffix == ".npy":
            with temporary.open("wb") as file:
                np.save(file, truth.label)
            return
        import polars as pl

        rows = pl.int_range(len(truth.label), eager=True).alias("item")
        item = rows if truth.item_ids is None else truth.item_ids
        frame = pl.DataFrame([item, pl.Series("label", truth.label)])
        if Path(path).suffix == ".parquet":
            frame.write_parquet(temporary)
        else:
            frame.write_csv(temporary)


def _column(
    frame: pl.DataFrame, path: str | Path, given: str | None, usual: tuple[str, ...]
) -> str | None:
    if given is not None:
        if given not in frame.columns:
            raise InputError(f"{path}: no column {given!r}; it has {', '.join(frame.columns)}")
        return given
    by_lower = {name.lower(): name for name in frame.columns}
    return next((by_lower[name] for name in usual if name in by_lower), None)


def _why(error: OSError) -> str:
    # polars raises the builtin errors with a message of its own and no strerror
    return error.strerror or str(error).splitlines()[0]
