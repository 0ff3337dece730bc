"""From what people write to int32 codes, and the vocabularies that turn the codes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from crowdwise.annotations.objects import as_column
from crowdwise.errors import InputError

Codes = NDArray[np.int32]
Where = Callable[[int], str]

INTEGER = "^(0|-?[1-9][0-9]*)$"  # as str(int) writes it: 007, +1 and -0 stay strings
BOOLEANS = (["false", "true"], ["False", "True"])
LABELS = ("label", "truth")  # the roles whose values may be booleans


class Coded(NamedTuple):
    """A column as codes (L,) into its sorted vocabulary."""

    codes: Codes
    vocabulary: NDArray[Any]


def row_number(index: int) -> str:
    """Where a value stands in memory, where rows are counted from 0."""
    return f"row {index} (counted from 0)"


def encode(values: ArrayLike | pl.Series, role: str, where: Where = row_number) -> Coded:
    """Codes and sorted vocabulary of a column of strings, integers or (labels only) booleans.

    Whole floats count as integers (data frames turn integers into floats for reasons of their
    own); integers beyond 64 bits end up in an object array of Python integers.

    Example:
        >>> encode(["b", "a", "b"], "label")
        Coded(codes=array([1, 0, 1], dtype=int32), vocabulary=array(['a', 'b'], dtype='<U1'))
    """
    column = as_column(values, role, where)
    if isinstance(column, np.ndarray):
        vocabulary, codes = np.unique(column, return_inverse=True)
        return Coded(codes.astype(np.int32), vocabulary)
    column = column.cast(own_categorical())
    texts = categories(column)
    doubtful = np.flatnonzero(texts.str.contains("^$|\\x00").to_numpy())
    if len(doubtful):
        first = int(np.flatnonzero(np.isin(column.to_physical().to_numpy(), doubtful))[0])
        fault = "is empty" if not column[first] else "holds a NUL byte"
        raise InputError(f"{where(first)}: the {role} {fault}; repair or drop the row")
    return encode_categorical(column, role, infer=False)


def own_categorical() -> pl.Categorical:
    """A categorical type that shares its categories with no other column."""
    return pl.Categorical(pl.Categories.random())


def categories(column: pl.Series) -> pl.Series:
    """The texts behind a categorical's codes; they live only as long as the column does."""
    assert isinstance(column.dtype, pl.Categorical)
    return column.dtype.categories.to_series()


def encode_categorical(column: pl.Series, role: str, infer: bool) -> Coded:
    """Codes and sorted vocabulary of a categorical column whose categories are its own.

    With `infer`, text becomes integers (or, for labels, booleans) when every value is written
    exactly as an integer (or a boolean) is.
    """
    texts = categories(column)
    order, vocabulary = _arrange(texts, role, infer)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Coded(rank[column.to_physical().to_numpy()], vocabulary)


def _arrange(texts: pl.Series, role: str, infer: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """The order that sorts the texts, and the sorted vocabulary."""
    if infer and len(texts) and texts.str.contains(INTEGER).all():
        numbers = _integers(texts)
        order = np.argsort(numbers, kind="stable")
        return order, numbers[order]
    ordered = texts.sort()
    order = _sorting(texts, ordered)
    if infer and role in LABELS and ordered[:3].to_list() in BOOLEANS:
        return order, np.array([False, True])
    return order, text_array(ordered)


def _integers(texts: pl.Series) -> NDArray[Any]:
    small = texts.cast(pl.Int64, strict=False)
    if not small.null_count():
        return small.to_numpy()
    return object_array([int(text) for text in texts])


def _sorting(texts: pl.Series, ordered: pl.Series) -> NDArray[Any]:
    """argsort of distinct texts: a join on 64-bit hashes is several times faster than arg_sort."""
    before, after = texts.hash(0), ordered.hash(0)
    if before.n_unique() < len(before):  # two texts share a hash
        return texts.arg_sort().to_numpy()
    place = pl.DataFrame({"hash": before, "place": np.arange(len(before), dtype=np.int32)})
    wanted = after.alias("hash").to_frame()
    return wanted.join(place, on="hash", how="left", maintain_order="left")["place"].to_numpy()


def text_array(texts: pl.Series) -> NDArray[Any]:
    """A NumPy array of strings: fixed width, or objects where one long text would waste memory."""
    n = len(texts)
    width = int(texts.str.len_chars().to_numpy().max(initial=1))
    if width > 64 and 4 * width * n > 3 * (texts.str.len_bytes().sum() + 57 * n):
        return object_array(texts.to_list())
    array = np.empty(n, dtype=f"<U{width}")
    for start in range(0, n, 100_000):  # in parts: the Python strings on the way cost memory
        array[start : start + 100_000] = texts[start : start + 100_000].to_numpy()
    return array


def object_array(values: list[Any]) -> NDArray[Any]:
    """A one-dimensional object array, whatever the values are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
