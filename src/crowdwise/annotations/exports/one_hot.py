"""One 0/1 column per class, as in GoEmotions: readable where an answer has one label."""

from collections.abc import Sequence

import polars as pl

from crowdwise.annotations.exports.rows import Rows
from crowdwise.annotations.exports.source import (
    ANNOTATOR_NAMES,
    ITEM_NAMES,
    LABEL_NAMES,
    head_rows,
    listed,
    named,
    shown,
    table,
)
from crowdwise.errors import InputError

_ONE = {"1", "1.0"}
_ZERO = {"0", "0.0"}


def detect(raw: bytes, name: str) -> bool:
    rows = head_rows(raw)
    if len(rows) < 2:
        return False
    lower = {column.lower() for column in rows[0]}
    if lower & set(LABEL_NAMES) or not (lower & set(ITEM_NAMES) and lower & set(ANNOTATOR_NAMES)):
        return False
    ids = set(ITEM_NAMES) | set(ANNOTATOR_NAMES)
    columns = [
        column
        for column, *cells in zip(*rows, strict=True)
        if column.lower() not in ids and set(cells) <= _ONE | _ZERO
    ]
    return len(columns) >= 2


def parse(
    raw: bytes,
    name: str,
    *,
    item: str | None = None,
    annotator: str | None = None,
    classes: str | Sequence[str] | None = None,
    single: bool = False,
) -> pl.DataFrame:
    """Read the class whose column holds a 1; answers without any 1 are skipped.

    Args:
        item: the item's column; found by its usual names when not given.
        annotator: the annotator's column, likewise.
        classes: the class columns; otherwise every column that holds nothing but 0 and 1.
        single: read the answers with one label and leave out those with several, which
            otherwise stop the reading.

    Example:
        >>> parse(b"id,rater_id,joy,fear\\na,3,0,1\\na,5,1,0\\n", "emotions.csv").rows()
        [('a', 3, 'fear'), ('a', 5, 'joy')]
    """
    header, lines = table(raw, name)
    item = _column(header, item, ITEM_NAMES, "item", name)
    annotator = _column(header, annotator, ANNOTATOR_NAMES, "annotator", name)
    columns = named(classes) or _binary(raw, name, {item, annotator})
    for column in columns:
        if column not in header:
            raise InputError(f"{name}: no column {column!r}; it has {listed(header)}")
    at = {column: position for position, column in enumerate(header)}
    rows = Rows(name)
    for line, row in lines:
        where = f"{name}, line {line}"
        for column in columns:
            if row[at[column]] not in _ONE | _ZERO:
                raise InputError(
                    f"{where}: {shown(row[at[column]])} in the class column {shown(column)}; "
                    "class columns hold 0 or 1"
                )
        chosen = [column for column in columns if row[at[column]] in _ONE]
        if len(chosen) > 1 and not single:
            raise InputError(
                f"{where}: several labels in one answer ({listed(chosen, 4)}); crowdwise reads "
                "one label per answer for now: set the option single to read only the answers "
                "with one label, or name fewer columns with the option classes"
            )
        if len(chosen) == 1:
            rows.add(row[at[item]], row[at[annotator]], chosen[0], where)
    return rows.frame("no answer has exactly one label", numbers=True)


def _column(
    header: list[str], given: str | None, usual: Sequence[str], what: str, name: str
) -> str:
    if given is not None:
        if given not in header:
            raise InputError(f"{name}: no column {given!r}; it has {listed(header)}")
        return given
    found = [column for wanted in usual for column in header if column.lower() == wanted]
    if not found:
        raise InputError(
            f"{name}: no column names the {what}; set the option {what} to one of: {listed(header)}"
        )
    return found[0]


def _binary(raw: bytes, name: str, ids: set[str]) -> list[str]:
    """The columns that hold nothing but 0 and 1: a first pass over the whole file."""
    header, lines = table(raw, name)
    left = {position: column for position, column in enumerate(header) if column not in ids}
    for _, row in lines:
        left = {at: column for at, column in left.items() if row[at] in _ONE or row[at] in _ZERO}
    if not left:
        raise InputError(
            f"{name}: no column holds only 0 and 1; name the class columns with the option classes"
        )
    return list(left.values())
