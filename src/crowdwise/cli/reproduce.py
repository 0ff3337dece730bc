"""`crowdwise reproduce`: a table of the paper, run again; what is finished is not run twice."""

from typing import Annotated

import typer


def reproduce(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="Which table: real, ablation or groups.")
    ],
    datasets: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Data sets, with commas between; all: those of the suite."
        ),
    ] = "all",
    methods: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Methods, with commas between; all: the seven and true labels."
        ),
    ] = "all",
    seeds: Annotated[int, typer.Option(metavar="N", help="How many seeds: 0, 1, …")] = 3,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Runs at the same time, one core each.")
    ] = 1,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where cells.jsonl, table.md and table.csv go; runs/SUITE if not given.",
        ),
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Take over finished runs of another cells.jsonl."),
    ] = None,
    page: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the page here as well (.md).")
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="Show what would run.")] = False,
) -> None:
    """Run a table of the paper again, every number beside the paper's.

    crowdwise reproduce real --datasets music,labelme --seeds 3 --jobs 2

    One line of JSON is kept per finished run, so that the same command goes on where it stopped.
    """
    from pathlib import Path

    from rich.console import Console

    from crowdwise.engine.progress import show_steps
    from crowdwise.errors import InputError
    from crowdwise.files import write_text
    from crowdwise.reproduce import ledger, suites
    from crowdwise.reproduce.page import for_terminal, write_tables

    if jobs < 1:
        raise InputError(f"--jobs is {jobs}; it must be at least 1")
    cells = suites.cells_of(suite, datasets, methods, seeds)
    folder = Path(out or f"runs/{suite}")
    file = folder / "cells.jsonl"
    if only_list:
        finished = ledger.read(file)
        for cell in cells:
            typer.echo(f"{'done   ' if cell.key in finished else 'missing'}  {cell}")
        return
    for other in merge or []:
        taken = ledger.merge(file, Path(other), cells)
        typer.echo(f"{other}: took over {taken} finished runs", err=True)
    missing = ledger.missing(cells, ledger.read(file))
    try:
        with show_steps("run", len(missing)) as advance:
            lines = ledger.run(cells, file, jobs, lambda line: advance(ledger.describe(line)))
    except KeyboardInterrupt:
        left = ledger.missing(cells, ledger.read(file))
        typer.echo(
            f"interrupted: {len(missing) - len(left)} runs are done and in {file}, {len(left)} are "
            "left; the same command goes on from there",
            err=True,
        )
        raise typer.Exit(130) from None
    command = f"crowdwise reproduce {suite} --datasets {datasets} --methods {methods}"
    text = write_tables(folder, suites.find(suite).title, f"{command} --seeds {seeds}", lines)
    if page is not None:
        write_text(page, text)
    console = Console()
    if not console.is_terminal:
        console.width = 140
    console.print(*for_terminal(lines), sep="\n")
    typer.echo(f"{folder / 'table.md'}, {folder / 'table.csv'}", err=True)
