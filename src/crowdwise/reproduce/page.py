"""Finished runs as a page, a CSV and a table on the terminal, each saying how it came about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from crowdwise.files import write_text
from crowdwise.reproduce.paper import NAMES, paper_numbers
from crowdwise.reproduce.settings import setting
from crowdwise.results.table import LEGEND, Row, filled, make_rows, shown, to_csv, to_markdown

Line = Mapping[str, Any]


def rows_of(lines: Iterable[Line]) -> list[Row]:
    """Rows beside the paper's numbers."""
    return make_rows(lines, NAMES, paper_numbers())


def page(title: str, command: str, lines: Sequence[Line]) -> str:
    """Markdown: the command, the machine, the versions, then a table for every data set."""
    seeds = sorted({line["cell"]["seed"] for line in lines})
    hours = sum(line["seconds"] for line in lines) / 3600
    about = [
        f"Machine: {_all(lines, 'machine')}; torch {_all(lines, 'torch')}, one thread per run.",
        f"Runs: {len(lines)}, {hours:.1f} hours of training; "
        f"seeds: {len(seeds)} ({', '.join(map(str, seeds))}).",
    ]
    blocks = [f"# {title}", f"    {command}", *about, LEGEND]
    for dataset, rows in by_dataset(rows_of(lines)).items():
        blocks += [f"## {dataset}", *filter(None, [setting(dataset).note]), to_markdown(rows)]
    return "\n\n".join(block.rstrip("\n") for block in blocks) + "\n"


def write_tables(folder: Path, title: str, command: str, lines: Sequence[Line]) -> str:
    """Write table.md and table.csv into `folder`; returns the page."""
    text = page(title, command, lines)
    write_text(folder / "table.md", text)
    write_text(folder / "table.csv", to_csv(rows_of(lines)))
    return text


def for_terminal(lines: Iterable[Line]) -> list[Table]:
    """A rich table for every data set."""
    tables = []
    for dataset, rows in by_dataset(rows_of(lines)).items():
        columns = filled(rows)
        table = Table("method", title=f"{dataset}, test accuracy in percent", title_justify="left")
        for column in ("seeds", *columns):
            table.add_column(column, justify="right")
        for row in rows:
            table.add_row(row.name, str(row.seeds), *shown(row, columns))
        tables.append(table)
    return tables


def by_dataset(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by data set, in order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.dataset, []).append(row)
    return found


def _all(lines: Iterable[Line], field: str) -> str:
    """Every value that some run recorded: runs may come from several machines."""
    return " and ".join(sorted({line.get(field, "not recorded") for line in lines}))
