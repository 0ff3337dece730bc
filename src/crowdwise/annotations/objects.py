"""A column of Python, NumPy or polars values as one clean kind: text, integers or booleans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from crowdwise.errors import InputError

if TYPE_CHECKING:
    from crowdwise.annotations.vocabulary import Where

LIKELY = "a string, an integer or, for labels, a boolean"
KINDS: dict[type | None, str] = {str: "text", int: "an integer", bool: "a boolean"}


def as_column(values: ArrayLike | pl.Series, role: str, where: Where) -> pl.Series | NDArray[Any]:
    """A polars column of strings, or an array of int64, bool or (beyond 64 bits) Python integers.

    Stops at the first value that is missing, of another kind than its column, or no id at all.
    """
    if isinstance(values, pl.Series):
        return _from_polars(values, role, where)
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return _from_numpy(values, role, where)
    if not isinstance(values, np.ndarray):
        values = _one_dimensional(list(values))  # type: ignore[arg-type]
    return _from_objects(values, role, where)


def _one_dimensional(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _from_polars(series: pl.Series, role: str, where: Where) -> pl.Series | NDArray[Any]:
    dtype = series.dtype
    if series.null_count():
        raise _missing(int(series.is_null().arg_max() or 0), role, where)
    if dtype == pl.String:
        return series
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return series.cast(pl.String)
    if dtype == pl.Boolean or dtype.is_float() or (dtype.is_integer() and dtype != pl.UInt64):
        if dtype in (pl.Int128, pl.UInt128):
            return _from_objects(_one_dimensional(series.to_list()), role, where)
        return _from_numpy(series.to_numpy(), role, where)
    if len(series) == 0:
        return series.cast(pl.String)
    return _from_objects(_one_dimensional(series.to_list()), role, where)


def _from_numpy(array: NDArray[Any], role: str, where: Where) -> pl.Series | NDArray[Any]:
    if array.ndim != 1:
        raise InputError(
            f"the {role} column has {array.ndim} dimensions; give one value per observed label"
        )
    kind = array.dtype.kind
    if len(array) == 0:
        return pl.Series([], dtype=pl.String)
    if kind == "b" and role not in ("item", "annotator"):
        return array
    if kind == "i" or (kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    if kind == "f":
        return _from_floats(array, role, where)
    return _from_objects(_one_dimensional(array.tolist()), role, where)


def _from_floats(array: NDArray[Any], role: str, where: Where) -> NDArray[Any]:
    missing = np.isnan(array)
    if missing.any():
        raise _missing(int(missing.argmax()), role, where)
    with np.errstate(invalid="ignore"):
        broken = (array != np.floor(array)) | (np.abs(array) >= 2.0**53)
    if broken.any():
        first = int(broken.argmax())
        raise _unlikely(array[first].item(), first, role, where)
    return array.astype(np.int64)


def _from_objects(array: NDArray[Any], role: str, where: Where) -> pl.Series | NDArray[Any]:
    """Python values one by one: the only way to tell 1 from True and "1"."""
    if array.ndim != 1:
        raise InputError(
            f"the {role} column has {array.ndim} dimensions; give one value per observed label"
        )
    values = array.tolist()
    first_kind: type | None = None
    for index, value in enumerate(values):
        values[index], kind = check_value(value, role, first_kind, where, index)
        first_kind = first_kind or kind
    if first_kind in (str, None):
        return pl.Series(values, dtype=pl.String)
    if first_kind is bool:
        return np.array(values, dtype=bool)
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return _one_dimensional([int(value) for value in values])


def check_value(
    value: Any, role: str, first_kind: type | None, where: Where, index: int
) -> tuple[Any, type]:
    """The value (whole floats as integers) and its kind, which has to be the first value's."""
    kind = kind_of(value, role)
    if kind is float:
        value, kind = int(value), int
    if kind is None:
        raise _missing(index, role, where)
    if kind is object:
        raise _unlikely(value, index, role, where)
    if first_kind not in (None, kind):
        raise InputError(
            f"{where(index)}: the {role} {short(value)} is {KINDS[kind]}, the rows before have "
            f"{KINDS[first_kind]}; write the whole column as one kind"
        )
    if kind is str:
        fault = text_fault(value)
        if fault:
            raise InputError(f"{where(index)}: the {role} {fault}; repair or drop the row")
    return value, kind


def text_fault(text: str) -> str | None:
    """Why a text is no id and no label, if so."""
    if not text.strip():
        return f"is blank ({short(text)})" if text else "is empty"
    if "\0" in text:
        return f"{short(text)} holds a NUL byte"
    return (
        None if text.isascii() or _is_unicode(text) else f"{short(text)} holds half of a character"
    )


def kind_of(value: Any, role: str) -> type | None:
    """str, int, bool, float (a whole one), None (a missing value) or object (anything else)."""
    if isinstance(value, str):
        return str
    if isinstance(value, bool | np.bool_):
        return bool if role not in ("item", "annotator") else object
    if isinstance(value, int | np.integer):
        return int
    if isinstance(value, float | np.floating):
        if value != value:
            return None
        number = float(value)
        return float if number.is_integer() and abs(number) < 2.0**53 else object
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return object


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _missing(index: int, role: str, where: Where) -> InputError:
    return InputError(
        f"{where(index)}: the {role} is missing (None or NaN); fill it in or drop the row"
    )


def _unlikely(value: Any, index: int, role: str, where: Where) -> InputError:
    return InputError(f"{where(index)}: the {role} {short(value)} should be {LIKELY}")


def short(value: Any) -> str:
    """A value as Python writes it, cut to a readable length."""
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
