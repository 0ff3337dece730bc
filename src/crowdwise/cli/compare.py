"""`crowdwise compare`: what sets runs apart, and where their answers differ."""

from typing import Annotated

import typer

from crowdwise.cli.tables import AsJson, TruthItem, TruthLabel, console_on


def compare(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Two or more finished run folders.")
    ],
    truth: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="True labels, one row per item: to score the runs."),
    ] = None,
    truth_item: TruthItem = None,
    truth_label: TruthLabel = None,
    as_json: AsJson = False,
) -> None:
    """Put runs beside each other: settings that differ, scores, and where they disagree.

    crowdwise compare run-a run-b --truth truth.csv
    """
    import json
    import sys

    from crowdwise.report.compare import compare_runs, show_comparison

    found = compare_runs(runs, truth, truth_item, truth_label)
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        show_comparison(found, console_on(sys.stdout))
