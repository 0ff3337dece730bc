"""`crowdwise reproduce`: a table of the paper, run again; what is finished is not run twice."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.table import Table


def reproduce(
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE",
            help="Which table: real, synthetic, clean, sparsity, groups, ablation; stats, figures.",
        ),
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
    scale: Annotated[
        str,
        typer.Option(
            metavar="SCALE",
            help="paper: the paper's setting, images on a GPU; cpu: smaller where that is slow.",
        ),
    ] = "paper",
    seeds: Annotated[int, typer.Option(metavar="N", help="How many seeds: 0, 1, …")] = 3,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Runs at the same time, one core each.")
    ] = 1,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where cells.jsonl and the tables go; runs/SUITE if not given.",
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
    finished: Annotated[
        bool, typer.Option("--finished", help="Run nothing; tables of what is finished.")
    ] = False,
    rehearse: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Train every run for a few batches only and keep nothing: a check."
        ),
    ] = None,
) -> None:
    """Run a table of the paper again, every number beside the paper's.

    crowdwise reproduce real --datasets music,labelme --seeds 3 --jobs 2

    One line of JSON is kept per finished run, so that the same command goes on where it stopped.
    """
    from pathlib import Path

    from crowdwise.engine.progress import show_steps
    from crowdwise.errors import InputError
    from crowdwise.reproduce import crowds, ledger, suites
    from crowdwise.reproduce.page import for_terminal, write_tables

    folder, copy = Path(out or f"runs/{suite}"), Path(page) if page else None
    command = f"crowdwise reproduce {suite} --datasets {datasets}"
    if suite in crowds.SUITES:
        tables, written = crowds.run(suite, datasets, seeds, command, folder, copy)
        _show(tables, written)
        return
    if jobs < 1:
        raise InputError(f"--jobs is {jobs}; it must be at least 1")
    cells = suites.cells_of(suite, datasets, methods, seeds, scale)
    file = folder / "cells.jsonl"
    if only_list:
        known = ledger.read(file)
        for cell in cells:
            typer.echo(f"{'done   ' if cell.key in known else 'missing'}  {cell}")
        return
    if rehearse is not None:
        with show_steps("rehearsal", len(cells)) as advance:
            for text in ledger.rehearse(cells, rehearse):
                advance(text)
        typer.echo(f"{len(cells)} runs work here for {rehearse} batches before and after warm-up")
        return
    for other in merge or []:
        taken = ledger.merge(file, Path(other), cells)
        typer.echo(f"{other}: took over {taken} finished runs", err=True)
    if finished:
        lines = ledger.finished(cells, file)
    else:
        missing = ledger.missing(cells, ledger.read(file))
        try:
            with show_steps("run", len(missing)) as advance:
                lines = ledger.run(cells, file, jobs, lambda line: advance(ledger.describe(line)))
        except KeyboardInterrupt:
            left = len(ledger.missing(cells, ledger.read(file)))
            typer.echo(
                f"interrupted: {len(missing) - left} runs are done and in {file}, {left} are "
                "left; the same command goes on from there",
                err=True,
            )
            raise typer.Exit(130) from None
    asked = f" --scale {scale}" if scale != "paper" else ""
    command += f" --methods {methods}{asked} --seeds {seeds}"
    made = suites.find(suite)
    written = write_tables(folder, made.title, command, lines, copy, made.note)
    _show(for_terminal(lines), written)


def _show(tables: "Sequence[Table]", written: "Sequence[Path]") -> None:
    """Tables on stdout, where they are on stderr."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = 140
    console.print(*tables, sep="\n")
    typer.echo(", ".join(map(str, written)), err=True)
