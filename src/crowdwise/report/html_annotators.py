"""The annotators on the page: a table's columns, packed confusion matrices, who gave how many."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.annotations.stats import labels_per_annotator
from crowdwise.annotations.summary import FEW
from crowdwise.report.html_charts import Bar, bars
from crowdwise.report.html_tables import Findings, shown

MATRIX_BYTES = 3_000_000  # confusion matrices on the page: one byte per cell, most labels first
_SHARES = ("accuracy", "corrected_accuracy")
_NARROW = ("annotator", "labels", "accuracy")  # what a phone has room for
_TITLES = {"corrected_accuracy": "corrected", "suspected_spammer": "spam?"}
# Told where a row opens; a table with all of it would fit no screen.
_OPENED = ("accuracy_low", "accuracy_high", "bias", "leans_to", "reason")
REASON = 400  # characters of a reason: a sentence or two, whatever the classes are called


def annotator_table(findings: Findings) -> dict[str, Any]:
    """Columns and values for the page's script, and the matrices that a row opens."""
    frame = findings.annotators
    return {
        "columns": [_column(name, kind) for name, kind in frame.schema.items()],
        "values": {name: _values(frame[name]) for name in frame.columns},
        "matrices": packed(findings.confusions, frame["labels"].fill_null(0).to_numpy()),
        "few": FEW,
        "suspected": suspected(findings),
    }


def suspected(findings: Findings) -> int:
    """How many annotators are suspected of spam."""
    frame = findings.annotators
    if "suspected_spammer" not in frame.columns:
        return 0
    return int((frame["suspected_spammer"].cast(pl.Boolean, strict=False)).fill_null(False).sum())


def packed(
    confusions: NDArray[np.float32], weight: NDArray[Any], room: int = MATRIX_BYTES
) -> dict[str, Any]:
    """As many matrices as there is room for, those of most weight, as base64 of one byte per cell.

    `of` lists their rows in order; None where all are there.

    Example:
        >>> packed(np.array([[[1.0]], [[0.0]]], dtype=np.float32), np.array([1, 5]), room=1)
        {'of': [1], 'cells': 'AA=='}
    """
    n = min(len(confusions), room // max(confusions[0].size, 1)) if len(confusions) else 0
    rows = np.sort(np.argsort(-weight, kind="stable")[:n])
    cells = np.rint(255 * np.nan_to_num(confusions[rows]).clip(0, 1)).astype(np.uint8)
    return {
        "of": None if n == len(confusions) else rows.tolist(),
        "cells": base64.b64encode(cells.tobytes()).decode("ascii"),
    }


def labels_given(findings: Findings) -> dict[str, Any]:
    """How many labels annotators gave: bars that grow as 1, 2, 5, 10, and the sums beside them."""
    given = labels_per_annotator(findings.crowd)
    heard = np.sort(given[given > 0])[::-1]
    half = int(np.searchsorted(np.cumsum(heard), heard.sum() / 2)) + 1 if len(heard) else 0
    return {
        "bars": _by_size(heard),
        "heard": len(heard),
        "silent": len(given) - len(heard),
        "few": int((heard <= FEW).sum()),
        "few_is": FEW,
        "median": float(np.median(heard)) if len(heard) else 0.0,
        "most": int(heard.max(initial=0)),
        "half": half,
    }


def _by_size(counts: NDArray[np.int64]) -> list[Bar]:
    """Counts in bins (0, 1], (1, 2], (2, 5], (5, 10], …"""
    edges = np.outer(10 ** np.arange(18), [1, 2, 5]).ravel()
    at = np.searchsorted(edges, counts)
    first, last = (int(at.min()), int(at.max())) if len(at) else (0, -1)
    rows = []
    for place in range(first, last + 1):
        low = int(edges[place - 1]) + 1 if place else 1
        high = int(edges[place])
        rows.append((f"{low:,}" if low == high else f"{low:,}–{high:,}", int((at == place).sum())))
    return bars(rows)


def _column(name: str, kind: pl.DataType) -> dict[str, Any]:
    if name in _SHARES or name.startswith("accuracy"):
        form = "share"
    elif name == "group":
        form = "group"
    elif kind.is_integer():
        form = "text" if name == "annotator" else "count"
    else:
        form = "number" if kind.is_numeric() else "text"
    title = _TITLES.get(name, shown(name).replace("_", " "))
    return {
        "key": name,
        "title": title,
        "kind": form,
        "wide": name not in _NARROW,
        "opened": name in _OPENED,
    }


def _values(column: pl.Series) -> list[Any]:
    if column.dtype == pl.Boolean:
        return column.replace_strict([True, False], ["yes", "no"], default=None).to_list()
    if column.name == "reason" and column.dtype == pl.String:
        return [None if value is None else shown(value, REASON) for value in column.to_list()]
    if column.name == "annotator" or not column.dtype.is_numeric():
        return [None if value is None else shown(value) for value in column.to_list()]
    if column.dtype.is_float():
        return column.set(~column.is_finite(), None).round(4).to_list()
    return column.to_list()
