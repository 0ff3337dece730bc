"""Mechanical Turk's batch results: one row per assignment, answers in `Answer.*` columns."""

import math

import polars as pl

from crowdwise.annotations.exports.rows import Rows, check_one, choose, labels_of
from crowdwise.annotations.exports.source import header_of, listed, table
from crowdwise.errors import InputError

_ANSWER = "Answer."


def detect(raw: bytes, name: str) -> bool:
    return {"HITId", "WorkerId"} <= set(header_of(raw))


def parse(
    raw: bytes,
    name: str,
    *,
    answer: str | None = None,
    item: str = "HITId",
    drop_rejected: bool = False,
) -> pl.DataFrame:
    """Read one answer of every assignment; empty answers are skipped.

    Args:
        answer: which `Answer.*` column to read; needed when there are several.
        item: the column that names the item, e.g. `Input.image_url` when a batch ran twice.
        drop_rejected: leave out assignments whose AssignmentStatus is Rejected.

    Example:
        >>> results = b"HITId,WorkerId,Answer.animal\\nH1,W1,cat\\nH1,W2,dog\\n"
        >>> parse(results, "batch.csv").rows()
        [('H1', 'W1', 'cat', None), ('H1', 'W2', 'dog', None)]
    """
    header, lines = table(raw, name)
    answers = [column for column in header if column.startswith(_ANSWER)]
    if answer is not None and answer not in header:
        answer = _ANSWER + answer
    chosen = choose(answers, answer, "answer column", "answer", name)
    wanted = [item, "WorkerId", *(["AssignmentStatus"] if drop_rejected else [])]
    for column in wanted:
        if column not in header:
            raise InputError(f"{name}: the column {column!r} is missing; it has {listed(header)}")
    at = {column: position for position, column in enumerate(header)}
    rows = Rows(name)
    for line, row in lines:
        where = f"{name}, line {line}"
        given = row[at[chosen]]
        rejected = drop_rejected and row[at["AssignmentStatus"]].strip().lower() == "rejected"
        if given.strip() in ("", "{}") or rejected:  # {} is how the site writes "no answer"
            continue
        check_one(given.split("|"), where)  # checkboxes are joined by |
        seconds = _seconds(row[at["WorkTimeInSeconds"]]) if "WorkTimeInSeconds" in at else None
        rows.add(row[at[item]], row[at["WorkerId"]], given, where, seconds=seconds)
    frame = rows.frame(f"no assignment has an answer in {chosen!r}")
    return frame.with_columns(label=labels_of(frame["label"]))


def _seconds(cell: str) -> float | None:
    try:
        seconds = float(cell)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None
