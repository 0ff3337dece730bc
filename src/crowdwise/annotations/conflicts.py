"""An annotator who labelled an item twice: identical repeats go, contradictions are settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.errors import InputError

RULES = ("error", "first", "last", "majority", "drop")

Rows = NDArray[np.int64]


class Settled(NamedTuple):
    """The rows that stay (None: all of them), and what happened to the others."""

    keep: Rows | None
    repeats: int  # rows that said what an earlier row had said
    conflicts: int  # (item, annotator) pairs with contradicting labels, settled by the rule


def settle(
    key: NDArray[np.int64],
    label: NDArray[np.int32],
    rule: str,
    describe: Callable[[int, int], str],
    named: int = 3,
) -> Settled:
    """One row per key = item · R + annotator.

    `rule` says what becomes of contradictions: `error` stops, naming the first few through
    `describe(row, other_row)`; `first` and `last` keep that row; `majority` keeps the label given
    most often, the earliest of those that tie; `drop` keeps none.

    Example:
        >>> key, label = np.array([7, 8, 7, 8, 8]), np.array([0, 1, 0, 1, 2], dtype=np.int32)
        >>> settle(key, label, "majority", lambda row, other: "")
        Settled(keep=array([0, 1]), repeats=1, conflicts=1)
    """
    if rule not in RULES:
        raise InputError(f"on_conflict is {rule!r}; it should be one of {', '.join(RULES)}")
    if pl.Series(key).n_unique() == len(key):
        return Settled(None, 0, 0)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    sizes = np.diff(starts, append=len(key))
    low = np.minimum.reduceat(label[order], starts)
    high = np.maximum.reduceat(label[order], starts)
    agree = low == high
    repeats = int((sizes[agree] - 1).sum())
    keep = order[starts[agree]]
    if agree.all():
        return Settled(np.sort(keep), repeats, 0)
    rows = np.sort(order[np.repeat(~agree, sizes)])
    if rule == "error":
        raise InputError(_contradictions(key, label, rows, describe, named))
    kept = np.concatenate([keep, _settled_rows(key[rows], label[rows], rows, rule)])
    return Settled(np.sort(kept), repeats, int((~agree).sum()))


def _settled_rows(key: NDArray[np.int64], label: NDArray[np.int32], rows: Rows, rule: str) -> Rows:
    frame = pl.DataFrame({"key": key, "label": label, "row": rows})
    row = pl.col("row")
    if rule == "first":
        chosen = frame.group_by("key").agg(row.min())
    elif rule == "last":
        chosen = frame.group_by("key").agg(row.max())
    elif rule == "majority":
        votes = frame.group_by("key", "label").agg(pl.len().alias("votes"), row.min())
        votes = votes.sort("key", "votes", "row", descending=[False, True, False])
        chosen = votes.group_by("key", maintain_order=True).first()
    else:
        chosen = frame.clear()
    return chosen["row"].to_numpy()


def _contradictions(
    key: NDArray[np.int64],
    label: NDArray[np.int32],
    rows: Rows,
    describe: Callable[[int, int], str],
    named: int,
) -> str:
    first: dict[int, int] = {}
    told: dict[int, str] = {}
    for row in rows.tolist():
        start = first.setdefault(int(key[row]), row)
        if label[row] != label[start] and int(key[row]) not in told:
            told[int(key[row])] = describe(start, row)
            if len(told) == named:
                break
    total = len(np.unique(key[rows]))
    more = f", and {total - named} more" if total > named else ""
    return (
        f"{'; '.join(told.values())}{more}; an annotator has one label per item: "
        "repair the table or settle it with on_conflict (--on-conflict first|last|majority|drop)"
    )
