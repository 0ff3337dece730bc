"""Finished runs as a page, a CSV, a picture and tables on the terminal, each saying how it came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from crowdwise.files import write_text
from crowdwise.reproduce import overview
from crowdwise.reproduce.paper import NAMES, paper_numbers
from crowdwise.reproduce.settings import Setting, setting
from crowdwise.results.table import (
    LEGEND,
    Row,
    filled,
    make_rows,
    shown,
    titles,
    to_csv,
    to_markdown,
)

Line = Mapping[str, Any]
NOT_THE_PAPERS = "Not the paper's setting"
PICTURE = "table"


def rows_of(lines: Iterable[Line]) -> list[Row]:
    """Rows beside the paper's numbers."""
    return make_rows(lines, NAMES, paper_numbers())


def page(
    title: str, command: str, lines: Sequence[Line], picture: str = PICTURE, note: str = ""
) -> str:
    """Markdown: command, machine, versions, picture, a view over all places, a table for each."""
    rows = rows_of(lines)
    hours = sum(line["seconds"] for line in lines) / 3600
    about = [
        f"Machine: {_all(lines, 'machine')}; torch {_all(lines, 'torch')}, one thread per run.",
        f"Runs: {len(lines)}, {hours:.1f} hours of training; {_seeds(lines)}.",
        *(f"**{told}.**" for told in dict.fromkeys(filter(None, map(not_the_papers, rows)))),
        *filter(None, [note]),
    ]
    blocks = [f"# {title}", f"    {command}", *about, LEGEND]
    blocks.append(f"![Test accuracy of every run's pair]({picture}.png)")
    places = by_place(rows)
    simulated = [row for row in rows if row.crowd]
    if len({row.place for row in simulated}) > 1:
        blocks += _overviews(simulated)
    for place, table in places.items():
        base = setting(table[0].dataset, table[0].scale)
        blocks += [f"## {place}", *filter(None, [base.note]), to_markdown(table)]
    return "\n\n".join(block.rstrip("\n") for block in blocks) + "\n"


def not_the_papers(row: Row) -> str:
    """What tables at another scale say about themselves; nothing where the setting is the paper's.

    Example:
        >>> not_the_papers(Row("fashion-mnist", "", "cpu", "CCC", 1, {})).split(":")[0]
        "Not the paper's setting (scale cpu)"
    """
    base = setting(row.dataset, row.scale)
    if base.scale == "paper":
        return ""
    return f"{NOT_THE_PAPERS} (scale {base.scale}): {row.dataset} with {_smaller(base)}"


def write_tables(
    folder: Path,
    title: str,
    command: str,
    lines: Sequence[Line],
    copy: Path | None = None,
    note: str = "",
) -> list[Path]:
    """Write table.md, .csv, .svg and .png into `folder`, the page and picture to `copy` as well."""
    from crowdwise.report.pictures import write
    from crowdwise.reproduce.chart import draw

    rows = rows_of(lines)
    spec = draw(rows, title, "; ".join(_told(rows)))
    written = [folder / "table.md", folder / "table.csv", *write(spec, folder, PICTURE)]
    write_text(written[0], page(title, command, lines, note=note))
    write_text(written[1], to_csv(rows))
    if copy is not None:
        write_text(copy, page(title, command, lines, copy.stem, note))
        written += [copy, *write(spec, copy.parent, copy.stem)]
    return written


def for_terminal(lines: Iterable[Line]) -> list[Table]:
    """A rich table for every place."""
    tables = []
    for place, rows in by_place(rows_of(lines)).items():
        columns = filled(rows)
        table = Table(
            "method",
            title=f"{place}, test accuracy in percent",
            title_justify="left",
            caption=not_the_papers(rows[0]) or None,
            caption_justify="left",
        )
        for column in ("seeds", *titles(columns, rows[0].scale)):
            table.add_column(column, justify="right")
        for row in rows:
            table.add_row(row.name, str(row.seeds), *shown(row, columns))
        tables.append(table)
    return tables


def by_place(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by place, in order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.place, []).append(row)
    return found


def _overviews(rows: Sequence[Row]) -> list[str]:
    blocks = []
    for dataset in dict.fromkeys(row.dataset for row in rows):
        own = [row for row in rows if row.dataset == dataset]
        blocks.append(f"## {dataset}, all crowds")
        marked = " The paper's are at its own scale." if not_the_papers(own[0]) else ""
        for rule, words in overview.RULES.items():
            blocks += [
                f"{words}, the pair's mean over seeds; the paper's in brackets.{marked}",
                overview.grid(own, rule),
            ]
        if overview.leads(own):
            blocks += [
                "By how much CCC is ahead at the last epoch, and what each method loses from its "
                f"oracle epoch to its last, in points; the paper's in brackets.{marked}",
                overview.pattern(own),
            ]
    return blocks


def _told(rows: Sequence[Row]) -> list[str]:
    """How the settings differ from the paper's, or that they do not, under the picture's title."""
    found = []
    for row in rows:
        base = setting(row.dataset, row.scale)
        own = f"{row.dataset}: {base.note or 'as in the paper'}".rstrip(".")
        found.append(not_the_papers(row) or own)
    return list(dict.fromkeys(found))


def _smaller(base: Setting) -> str:
    return base.note[0].lower() + base.note[1:].rstrip(".")


def _seeds(lines: Sequence[Line]) -> str:
    """How many seeds; a range where methods have unequally many."""
    by_row: dict[tuple[str, ...], set[int]] = {}
    for line in lines:
        cell = line["cell"]
        key = _row_key(cell, line.get("label", ""))
        by_row.setdefault(key, set()).add(cell["seed"])
    counts = sorted({len(seeds) for seeds in by_row.values()})
    seeds = sorted(set().union(*by_row.values()))
    number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]} per row"
    return f"seeds: {number} ({', '.join(map(str, seeds))})"


def _row_key(cell: Mapping[str, Any], label: str) -> tuple[str, ...]:
    """What runs of one row share: everything but the seed."""
    return (*(str(cell.get(part)) for part in ("dataset", "method", "crowd", "scale")), label)


def _all(lines: Iterable[Line], field: str) -> str:
    """Every value that some run recorded: runs may come from several machines."""
    return " and ".join(sorted({line.get(field, "not recorded") for line in lines}))
