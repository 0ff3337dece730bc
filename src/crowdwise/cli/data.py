"""`crowdwise data`: which data sets there are, getting their files, checking and finding them."""

from typing import Annotated, Any

import typer

from crowdwise.errors import InputError

data = typer.Typer(
    help="List the data sets, get their files, check them, say where they are.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="One of crowdwise data list.")]


@data.command("list")
def show(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array instead.")] = False,
) -> None:
    """List the data sets: size, licence, and whether the files are here.

    crowdwise data list
    """
    import json

    from crowdwise.datasets.registry import describe, names
    from crowdwise.datasets.store import find

    rows: list[dict[str, Any]] = []
    for name in names():
        entry = describe(name)
        places = [find(recipe) for recipe in entry.recipes]
        rows.append(
            {
                "name": name,
                "summary": entry.summary,
                "licence": entry.licence,
                "bytes": sum(recipe.size for recipe in entry.recipes),
                "here": all(places),
                "folders": [str(place) for place in places if place],
                "download": all(
                    recipe.downloads and not recipe.unchecked()
                    for recipe, place in zip(entry.recipes, places, strict=True)
                    if not place
                ),
            }
        )
    if as_json:
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        table(rows)


@data.command()
def get(
    name: Name,
    origin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FOLDER",
            help="Copy the files or unpack the authors' archive from here; nothing is downloaded.",
        ),
    ] = None,
) -> None:
    """Download a data set's files into the user's cache, or copy them there with --from.

    Files that are here already are left alone. A download that was cut off goes on where it
    stopped. A file whose sha256 is not the known one is thrown away.

    crowdwise data get fashion-mnist
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    from crowdwise.datasets import store

    screen = Console(stderr=True)
    columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(name, total=None)

        def progress(here: int, total: int | None) -> None:
            bar.update(task, completed=here, total=total)

        folders = store.get(name, origin, progress)
    for folder in folders:
        typer.echo(f"{name} is in {folder}")
    if not folders:
        typer.echo(f"{name} is embedded in scikit-learn: there is nothing to get")


@data.command()
def verify(name: Name) -> None:
    """Check the sha256 of every file of a data set, then load it to check its shapes.

    crowdwise data verify music
    """
    from crowdwise.datasets import store

    wrong = []
    for found in store.verify(name):
        typer.echo(f"{found.path}: {'WRONG' if found.wrong else 'ok'} ({found.known})")
        if found.wrong:
            wrong.append(f"{found.path}: {found.wrong}")
    if wrong:
        raise InputError(f"{'; '.join(wrong)}; delete what is wrong and get it again")
    typer.echo(f"{name} loads, and its shapes are right")


@data.command()
def path(name: Name) -> None:
    """Print the folder of a data set's files, one per line where there are several.

    crowdwise data path music
    """
    from crowdwise.datasets import store

    for folder in store.folders(name):
        typer.echo(folder)


def table(rows: list[dict[str, Any]]) -> None:
    """The data sets for people: those not here say how to get them."""
    from rich.console import Console
    from rich.filesize import decimal
    from rich.table import Table

    grid = Table()
    grid.add_column("name", no_wrap=True)
    grid.add_column("size", justify="right", no_wrap=True)
    grid.add_column("here", no_wrap=True)
    grid.add_column("licence")
    for row in rows:
        absent = "no: get" if row["download"] else "no: get --from"
        here = "yes" if row["here"] else absent
        size = decimal(row["bytes"]) if row["bytes"] else "embedded"
        grid.add_row(row["name"], size, here, row["licence"])
    Console().print(grid)
