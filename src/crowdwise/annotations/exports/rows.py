"""Collect (item, annotator, label) row by row, refuse what is neither id nor label."""

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import polars as pl

from crowdwise.annotations.exports.source import listed, shown
from crowdwise.errors import InputError

_INT64 = range(-(2**63), 2**63)
_KINDS = {str: "text", int: "a number", bool: "true or false"}


class Rows:
    """The labels of one export on their way to a frame.

    Example:
        >>> rows = Rows("crowd.json")
        >>> rows.add(7, "ann", "cat", "crowd.json, task 7")
        >>> rows.frame("nobody answered").rows()
        [(7, 'ann', 'cat')]
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.item: list[Any] = []
        self.annotator: list[Any] = []
        self.label: list[Any] = []
        self.extra: dict[str, list[Any]] = {}

    def add(self, item: Any, annotator: Any, label: Any, where: str, **extra: Any) -> None:
        check_id(item, "item", where)
        check_id(annotator, "annotator", where)
        check_label(label, where)
        if self.label and type(label) is not type(self.label[0]):
            raise InputError(
                f"{where}: the label {shown(label)} is {_KINDS[type(label)]}, the first label "
                f"{shown(self.label[0])} is {_KINDS[type(self.label[0])]}; write all labels alike"
            )
        self.item.append(item)
        self.annotator.append(annotator)
        self.label.append(label)
        for key, value in extra.items():
            self.extra.setdefault(key, []).append(value)

    def frame(self, nothing: str, numbers: bool = False) -> pl.DataFrame:
        """The frame; `nothing` says why there may be no label, `numbers` reads ids from text."""
        if not self.label:
            raise InputError(f"{self.name}: no labels found; {nothing}")
        item, annotator, label = column(self.item), column(self.annotator), column(self.label)
        if numbers:
            item, annotator = numbers_of(item), numbers_of(annotator)
        kinds = {"gold": pl.Boolean, "seconds": pl.Float64}
        return pl.DataFrame(
            {"item": item, "annotator": annotator, "label": label}
            | {key: pl.Series(values, dtype=kinds[key]) for key, values in self.extra.items()}
        )


def check_id(value: Any, what: str, where: str) -> None:
    if isinstance(value, str):
        check_text(value, what, where)
    elif isinstance(value, bool) or not isinstance(value, int):
        raise InputError(
            f"{where}: {shown(value)} where the {what}'s id is expected; "
            "ids are text or whole numbers"
        )


def check_label(value: Any, where: str) -> None:
    if isinstance(value, str):
        check_text(value, "label", where)
    elif not isinstance(value, int):  # true and false are integers to Python
        raise InputError(
            f"{where}: {shown(value)} where a label is expected; "
            "labels are text, whole numbers or true/false"
        )


def check_text(value: str, what: str, where: str) -> None:
    if not value.strip():
        raise InputError(f"{where}: the {what} is empty; fill it in or remove the answer")
    try:
        value.encode()
    except UnicodeEncodeError as error:  # half a character, such as "\ud800" in JSON
        _not_text(value, what, where, error)
    if "\0" in value:
        _not_text(value, what, where)


def _not_text(value: str, what: str, where: str, error: Exception | None = None) -> NoReturn:
    raise InputError(
        f"{where}: the {what} {shown(value)} holds a character that is no text; rename it"
    ) from error


def check_one(labels: Sequence[Any], where: str) -> None:
    """Several labels in one answer: said clearly, because only single labels are read."""
    if len(labels) > 1:
        raise InputError(
            f"{where}: several labels in one answer "
            f"({listed([shown(label) for label in labels], 4)}); crowdwise reads one label per "
            "answer for now, so keep one of them or remove the answer"
        )


def choose(names: Sequence[str], given: str | None, what: str, option: str, name: str) -> str:
    """The one name, or the one the user gave; otherwise a message lists what there is."""
    if given is None and len(names) == 1:
        return names[0]
    if given in names:
        return str(given)
    if not names:
        raise InputError(f"{name}: no {what} found; check that this is the right format")
    problem = f"several {what}s" if given is None else f"no {what} {given!r}"
    raise InputError(f"{name}: {problem}; set the option {option} to one of: {listed(list(names))}")


def duration(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        _bad_duration(value, where)
    try:
        seconds = float(value)
    except OverflowError:
        _bad_duration(value, where)
    return seconds if math.isfinite(seconds) else None  # NaN: not measured


def _bad_duration(value: Any, where: str) -> NoReturn:
    raise InputError(
        f"{where}: the duration is {shown(value)}, not a number of seconds; mend or remove it"
    )


def column(values: list[Any]) -> pl.Series:
    """Booleans and 64-bit integers as they are; longer integers and mixed ids become text."""
    if all(isinstance(value, bool) for value in values):
        return pl.Series(values, dtype=pl.Boolean)
    if all(isinstance(value, int) and value in _INT64 for value in values):
        return pl.Series(values, dtype=pl.Int64)
    return pl.Series([str(value) for value in values], dtype=pl.String)


def numbers_of(text: pl.Series) -> pl.Series:
    """Text that is nothing but integers, as integers; '007' keeps its zeros and stays text.

    Example:
        >>> numbers_of(pl.Series(["1", "2"])).dtype, numbers_of(pl.Series(["01", "2"])).dtype
        (Int64, String)
    """
    if text.dtype != pl.String:
        return text
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count() == 0 and (numbers.cast(pl.String) == text).all():
        return numbers
    return text


def labels_of(text: pl.Series) -> pl.Series:
    """Labels written in a table: 1 and 1.0 are one label, true and false are booleans.

    Example:
        >>> labels_of(pl.Series(["1.0", "0"])).to_list(), labels_of(pl.Series(["True"])).to_list()
        ([1, 0], [True])
    """
    lower = text.str.to_lowercase()
    if lower.is_in(["true", "false"]).all():
        return lower == "true"
    if text.str.contains(r"^-?(0|[1-9][0-9]*)(\.0+)?$").all():
        return numbers_of(text.str.replace(r"\.0+$", "").str.replace("^-0$", "0"))
    return text
