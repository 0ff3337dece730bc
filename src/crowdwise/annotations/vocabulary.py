"""From what people write to int32 codes, and the vocabularies that turn the codes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from crowdwise.annotations.objects import as_column, text_fault
from crowdwise.annotations.texts import PART, Codes, Texts, encode_texts
from crowdwise.errors import InputError

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
    text_codes, texts = encode_texts(column)
    doubtful = np.flatnonzero(texts.str.contains(r"^[\s\x1c-\x1f]*$|\x00").to_numpy())
    if len(doubtful):
        first = int(np.flatnonzero(np.isin(text_codes, doubtful))[0])
        fault = text_fault(column[first])
        raise InputError(f"{where(first)}: the {role} {fault}; repair or drop the row")
    return Coded(text_codes, text_array(texts))


def recognise(column: Texts, role: str) -> Coded:
    """What a text file's column holds: integers or (labels only) booleans if all of it does.

    Every value has to be written exactly as an integer (or a boolean) is, so that the text can
    be had back.

    Example:
        >>> recognise(encode_texts(pl.Series(["10", "9"])), "item")
        Coded(codes=array([1, 0], dtype=int32), vocabulary=array([ 9, 10]))
    """
    codes, texts = column
    if role in LABELS and texts[:3].to_list() in BOOLEANS:
        return Coded(codes, np.array([False, True]))
    if not len(texts) or not texts.str.contains(INTEGER).all():
        return Coded(codes, text_array(texts))
    small = texts.cast(pl.Int64, strict=False)
    numbers = object_array([int(t) for t in texts]) if small.null_count() else small.to_numpy()
    order = np.argsort(numbers, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Coded(rank[codes], numbers[order])


def text_array(texts: pl.Series) -> NDArray[Any]:
    """A NumPy array of strings: fixed width, or objects where one long text would waste memory."""
    n = len(texts)
    width = int(texts.str.len_chars().to_numpy().max(initial=1))
    if width > 64 and 4 * width * n > 3 * (texts.str.len_bytes().sum() + 57 * n):
        return object_array(texts.to_list())
    array = np.empty(n, dtype=f"<U{width}")
    for start in range(0, n, PART):
        array[start : start + PART] = texts[start : start + PART].to_numpy()
    return array


def object_array(values: list[Any]) -> NDArray[Any]:
    """A one-dimensional object array, whatever the values are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
