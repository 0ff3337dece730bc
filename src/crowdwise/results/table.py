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


Paper = Mapping[tuple[str, str], Mapping[str, Spread]]  # by place and method, then by rule


@dataclass(frozen=True)
class Row:
    """One method (or variant) in one place: a data set, labelled by one kind of crowd."""

    dataset: str
    crowd: str  # of a simulated one: case, k, …
    scale: str  # "paper", or how the setting is smaller than the paper's
    name: str
    seeds: int
    scores: Mapping[str, Spread]  # some of COLUMNS

    @property
    def place(self) -> str:
        return ", ".join(filter(None, (self.dataset, self.crowd)))


def crowd_in_words(crowd: Mapping[str, Any]) -> str:
    """What a run's simulated crowd departs in from its setting's.

    Example:
        >>> crowd_in_words({"case": "IND-I", "k": 5})
        'IND-I, k = 5'
    """
    return ", ".join(str(v) if name == "case" else f"{name} = {v}" for name, v in crowd.items())


def make_rows(
    lines: Iterable[Mapping[str, Any]], names: Mapping[str, str], paper: Paper
) -> list[Row]:
    """Rows in the order in which data sets and methods first appear.

    Args:
        lines: finished runs, as `reproduce` writes them.
        names: how methods are called in print; a run's label goes before.
        paper: the paper's numbers; they stand beside runs in the data set's own setting only.
    """
    groups: dict[tuple[str, str, str, str], list[Mapping[str, Any]]] = {}
    for line in lines:
        cell = line["cell"]
        name = line.get("label") or names.get(cell["method"], cell["method"])
        place = cell["dataset"], crowd_in_words(cell.get("crowd", {})), cell.get("scale", "paper")
        groups.setdefault((*place, name), []).append(line)
    order = list(dict.fromkeys(key[:3] for key in groups))
    rows = [Row(*key, len(runs), _scores(runs, key, paper)) for key, runs in groups.items()]
    return sorted(rows, key=lambda row: order.index((row.dataset, row.crowd, row.scale)))


def to_csv(rows: Sequence[Row]) -> str:
    """A line per row; every score as mean and sd, in percent with two decimals."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    keys = [column.replace(", ", "_") for column in COLUMNS]
    numbers = [f"{key}_{value}" for key in keys for value in _VALUES]
    writer.writerow(["dataset", "crowd", "scale", "method", "seeds", *numbers])
    for row in rows:
        cells = [_two_numbers(row.scores.get(column)) for column in COLUMNS]
        about = [row.dataset, row.crowd, row.scale, row.name, row.seeds]
        writer.writerow([*about, *(value for two in cells for value in two)])
    return text.getvalue()


def to_markdown(rows: Sequence[Row]) -> str:
    """One table; columns that nobody fills are left out."""
    columns = filled(rows)
    head = ["method", "seeds", *titles(columns, rows[0].scale)]
    body = [[row.name, str(row.seeds), *shown(row, columns)] for row in rows]
    return markdown(head, body)


def markdown(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table; every column but the first is of numbers.

    Example:
        >>> print(markdown(["k", "last"], [["1", "70.25"]]), end="")
        | k | last |
        | --- | ---: |
        | 1 | 70.25 |
    """
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def filled(rows: Sequence[Row]) -> list[str]:
    """The columns in which at least one row has a number."""
    return [column for column in COLUMNS if any(column in row.scores for row in rows)]


def titles(columns: Sequence[str], scale: str) -> list[str]:
    """Columns as tables head them: the paper's numbers are marked where the scale is another."""
    mark = "paper" if scale == "paper" else "paper, its own scale"
    return [column.replace("paper", mark) for column in columns]


def shown(row: Row, columns: Sequence[str]) -> list[str]:
    """A row's scores as people read them."""
    return [str(row.scores.get(column, "")) for column in columns]


_VALUES = ("mean", "sd")


def _scores(
    runs: Sequence[Mapping[str, Any]], key: tuple[str, str, str, str], paper: Paper
) -> dict[str, Spread]:
    cell = runs[0]["cell"]
    found = {}
    for rule in ("last", "oracle", "validation"):
        if all(rule in run["paired"] for run in runs):
            found[f"pair, {rule}"] = Spread.of([run["paired"][rule] for run in runs])
        if all(rule in run["single"] for run in runs):
            models = [score for run in runs for score in run["single"][rule]]
            found[f"single, {rule}"] = Spread.of(models)
    if not any(cell.get(part) for part in ("options", "net_options")):
        place = ", ".join(filter(None, key[:2]))
        beside = paper.get((place, cell["method"]), {})
        found |= {f"paper, {rule}": spread for rule, spread in beside.items()}
    return found


def _two_numbers(spread: Spread | None) -> tuple[str, str]:
    if spread is None:
        return "", ""
    return f"{spread.mean:.2f}", "" if spread.sd is None else f"{spread.sd:.2f}"
