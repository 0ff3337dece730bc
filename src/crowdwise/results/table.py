"""From finished runs to a table: mean ± sd over seeds, beside the paper's numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

# Which model is scored, at which epoch. The rule that peeks at the test set is called oracle.
COLUMNS = (
    "pair, last",
    "single, last",
    "paper, last",
    "pair, oracle",
    "single, oracle",
    "paper, oracle",
    "pair, validation",
)
LEGEND = (
    "Test accuracy in percent, mean ± standard deviation (n - 1). *pair*: the mean of a run's "
    "models, spread over runs; *single*: each model alone, spread over the models of all runs. "
    "*last*: the final epoch; *validation*: the best epoch on the validation split; *oracle*: the "
    "best epoch on the test set itself, which the paper prints as best and nobody can pick in use."
)


class Spread(NamedTuple):
    """Mean and standard deviation of n numbers; one number has no spread.

    Example:
        >>> str(Spread.of([72.0, 72.667, 74.0]))
        '72.89 ± 1.02'
    """

    mean: float
    sd: float | None
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Spread of a sample, ddof = 1."""
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return cls(float(np.mean(values)), sd, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.sd is None else f"{self.mean:.2f} ± {self.sd:.2f}"


Paper = Mapping[tuple[str, str], Mapping[str, Spread]]  # by data set and method, then by rule


@dataclass(frozen=True)
class Row:
    """One method (or variant) on one data set."""

    dataset: str
    name: str
    seeds: int
    scores: Mapping[str, Spread]  # some of COLUMNS


def make_rows(
    lines: Iterable[Mapping[str, Any]], names: Mapping[str, str], paper: Paper
) -> list[Row]:
    """Rows in the order in which data sets and methods first appear.

    Args:
        lines: finished runs, as `reproduce` writes them.
        names: how methods are called in print; a run's label goes before.
        paper: the paper's numbers; they stand beside runs in the data set's own setting only.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for line in lines:
        cell = line["cell"]
        name = line.get("label") or names.get(cell["method"], cell["method"])
        groups.setdefault((cell["dataset"], name), []).append(line)
    order = list(dict.fromkeys(dataset for dataset, _ in groups))
    rows = [Row(d, name, len(runs), _scores(runs, paper)) for (d, name), runs in groups.items()]
    return sorted(rows, key=lambda row: order.index(row.dataset))


def to_csv(rows: Sequence[Row]) -> str:
    """A line per row; every score as mean and sd, in percent with two decimals."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    keys = [column.replace(", ", "_") for column in COLUMNS]
    writer.writerow(["dataset", "method", "seeds", *(f"{k}_{v}" for k in keys for v in _VALUES)])
    for row in rows:
        cells = [_two_numbers(row.scores.get(column)) for column in COLUMNS]
        writer.writerow(
            [row.dataset, row.name, row.seeds, *(value for two in cells for value in two)]
        )
    return text.getvalue()


def to_markdown(rows: Sequence[Row]) -> str:
    """One table; columns that nobody fills are left out."""
    columns = filled(rows)
    head = ["method", "seeds", *columns]
    body = [[row.name, str(row.seeds), *shown(row, columns)] for row in rows]
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def filled(rows: Sequence[Row]) -> list[str]:
    """The columns in which at least one row has a number."""
    return [column for column in COLUMNS if any(column in row.scores for row in rows)]


def shown(row: Row, columns: Sequence[str]) -> list[str]:
    """A row's scores as people read them."""
    return [str(row.scores.get(column, "")) for column in columns]


_VALUES = ("mean", "sd")


def _scores(runs: Sequence[Mapping[str, Any]], paper: Paper) -> dict[str, Spread]:
    cell = runs[0]["cell"]
    found = {}
    for rule in ("last", "oracle", "validation"):
        if all(rule in run["paired"] for run in runs):
            found[f"pair, {rule}"] = Spread.of([run["paired"][rule] for run in runs])
        if all(rule in run["single"] for run in runs):
            models = [score for run in runs for score in run["single"][rule]]
            found[f"single, {rule}"] = Spread.of(models)
    if not any(cell.get(part) for part in ("options", "net_options", "crowd")):
        beside = paper.get((cell["dataset"], cell["method"]), {})
        found |= {f"paper, {rule}": spread for rule, spread in beside.items()}
    return found


def _two_numbers(spread: Spread | None) -> tuple[str, str]:
    if spread is None:
        return "", ""
    return f"{spread.mean:.2f}", "" if spread.sd is None else f"{spread.sd:.2f}"
