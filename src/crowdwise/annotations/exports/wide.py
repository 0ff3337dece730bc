"""Wide tables: one row per item, one column per annotator, empty cells for no answer."""

import re
from array import array
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.annotations.exports.rows import check_text, labels_of, numbers_of
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

_INDEX = ("", "Unnamed: 0", "index")  # how a data frame's index arrives in a file
_PERSON = re.compile(r"(annotator|worker|user|rater|coder|labell?er|ann|a|w|r|u)?[ ._-]?\d+", re.I)


def detect(raw: bytes, name: str) -> bool:
    """Conservative: columns must be numbered annotators, or a long table would be misread."""
    rows = head_rows(raw)
    if len(rows) < 2 or not rows[0]:
        return False
    header = rows[0]
    if {column.lower() for column in header} & {*ANNOTATOR_NAMES, *LABEL_NAMES}:
        return False
    first_is_item = header[0].lower() in ITEM_NAMES or header[0] in _INDEX
    people = header[1:] if first_is_item else header
    return len(people) >= 2 and all(_PERSON.fullmatch(column) for column in people)


def parse(
    raw: bytes,
    name: str,
    *,
    item: str | None = None,
    annotators: str | Sequence[str] | None = None,
    missing: str | Sequence[str] = "-1",
) -> pl.DataFrame:
    """Read a table with one column per annotator; empty and NaN cells are no answer.

    Args:
        item: the column with the items' ids; without it a column with a usual name or a data
            frame's index, and if there is none the rows are numbered from 0.
        annotators: the columns to read, when others (a text, the truth) stand beside them.
        missing: further cells that mean "no answer"; -1 unless given.

    Example:
        >>> parse(b"id,ann,bob\\np1,cat,\\np2,-1,dog\\n", "crowd.csv").rows()
        [('p1', 'ann', 'cat'), ('p2', 'bob', 'dog')]
    """
    header, lines = table(raw, name)
    at_item = _item_column(header, item, name)
    others = {column: at for at, column in enumerate(header) if at != at_item}
    columns = named(annotators) or list(others)
    for column in columns:
        if column not in others:
            raise InputError(
                f"{name}: no annotator column {column!r}; it has {listed(list(others))}"
            )
        check_text(column, "annotator", f"{name}, line 1, column {others[column] + 1}")
    positions = [others[column] for column in columns]
    markers = named(missing) or []
    ids: list[str] = []
    codes: dict[str, int] = {}  # cell -> label code, -1 where there is no answer
    labels: list[str] = []
    item_of, annotator_of, label_of = array("q"), array("q"), array("q")
    for line, row in lines:
        if at_item is not None:
            check_text(row[at_item], "item", f"{name}, line {line}")
        for annotator, position in enumerate(positions):
            code = codes.get(row[position])
            if code is None:
                code = -1 if _is_missing(row[position], markers) else len(labels)
                codes[row[position]] = code
                if code >= 0:
                    labels.append(row[position])
            if code >= 0:
                item_of.append(len(ids))
                annotator_of.append(annotator)
                label_of.append(code)
        ids.append(str(len(ids)) if at_item is None else row[at_item])
    if not labels:
        raise InputError(f"{name}: no labels found; every cell is empty or marked as missing")
    at_row, at_column, code_of = (np.asarray(codes) for codes in (item_of, annotator_of, label_of))
    if at_item is None and annotators is None:
        _refuse_ids(columns[0], at_column == 0, code_of, len(ids), name)
    return pl.DataFrame(
        {
            "item": numbers_of(pl.Series(ids)).gather(at_row),
            "annotator": numbers_of(pl.Series(columns)).gather(at_column),
            "label": labels_of(pl.Series(labels)).gather(code_of),
        }
    )


def _item_column(header: list[str], given: str | None, name: str) -> int | None:
    if given is not None:
        if given not in header:
            raise InputError(f"{name}: no column {given!r}; it has {listed(header)}")
        return header.index(given)
    found = [at for at, column in enumerate(header) if column.lower() in ITEM_NAMES]
    if found:
        return found[0]
    return 0 if header[0] in _INDEX else None


def _is_missing(cell: str, markers: Sequence[str]) -> bool:
    cell = cell.strip()
    return cell.lower() in ("", "nan") or cell in markers or cell.removesuffix(".0") in markers


def _refuse_ids(
    first: str, is_first: NDArray[np.bool_], codes: NDArray[np.int64], n_rows: int, name: str
) -> None:
    """A first column that never repeats and shares no value with the others is no annotator."""
    own = codes[is_first]
    if (
        len(own) == n_rows > 1 == np.bincount(own).max()
        and not np.isin(own, codes[~is_first]).any()
    ):
        raise InputError(
            f"{name}: the column {shown(first)} looks like ids, not like labels; set the option "
            f"item to {shown(first)}, or the option annotators to the columns to read"
        )
