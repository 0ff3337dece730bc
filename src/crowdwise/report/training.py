"""What a training run says in the terminal: the settings it chose, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

SHOWN = 5  # annotators named at either end


def show_settings(settings: Mapping[str, Any], console: Console) -> None:
    """One line with every option of the run."""
    console.print(Text("  ".join(f"{name} {value}" for name, value in settings.items())))


def show_trained(
    consensus: pl.DataFrame,
    annotators: pl.DataFrame,
    truth: Mapping[Any, Any] | None,
    folder: str,
    console: Console,
) -> None:
    """The consensus in a sentence, the best and worst annotators, and where everything is."""
    sure = int((consensus["probability"] >= 0.9).sum())
    console.print(Text(f"{len(consensus)} items, {sure} of them at 90% or more"))
    if truth:
        console.print(Text(_against(consensus, truth)))
    heard = annotators.filter(pl.col("labels") > 0).sort("cost", descending=False)
    table = Table("annotator", "labels", "accuracy", "cost (0 perfect, 1 spammer)")
    if len(heard) > 2 * SHOWN:
        best, rest, worst = heard[:SHOWN], len(heard) - 2 * SHOWN, heard[-SHOWN:]
        _add(table, best)
        table.add_row(Text(f"… {rest} more in annotators.csv"), "", "", "")
        _add(table, worst)
    else:
        _add(table, heard)
    console.print(table)
    console.print(Text(f"wrote {folder}; open {folder}/report.html"))


def _add(table: Table, annotators: pl.DataFrame) -> None:
    for row in annotators.iter_rows(named=True):
        numbers = (str(row["labels"]), f"{row['accuracy']:.3f}", f"{row['cost']:.3f}")
        table.add_row(Text(str(row["annotator"])), *numbers)


def _against(consensus: pl.DataFrame, truth: Mapping[Any, Any]) -> str:
    known = [
        truth[item] == label
        for item, label in zip(consensus["item"], consensus["label"], strict=True)
        if item in truth
    ]
    return f"consensus right on {sum(known)} of {len(known)} items with known truth"
