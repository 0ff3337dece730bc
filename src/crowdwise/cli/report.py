"""`crowdwise report`: a run folder as one page that opens anywhere."""

from typing import Annotated

import typer


def report(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A finished run folder of `crowdwise fit`.")
    ],
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The page to write; report.html in RUN if not given."),
    ] = None,
) -> None:
    """Write a run's report: one HTML file that opens offline, for reading, print and phone.

    crowdwise report run --out report.html
    """
    from crowdwise.report.html import write_report

    path = write_report(run, out)
    typer.echo(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
