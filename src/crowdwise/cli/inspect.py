"""`crowdwise inspect`: what a crowd's table says about itself, for people or for programs."""

from typing import Annotated

import typer

from crowdwise.cli.tables import (
    Annotator,
    AsJson,
    Classes,
    FileFormat,
    FormatOption,
    Item,
    Label,
    OnConflict,
    Table,
    Truth,
    TruthItem,
    TruthLabel,
    console_on,
    read_table,
)


def inspect(
    table: Table,
    truth: Truth = None,
    as_json: AsJson = False,
    figures: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Draw labels per annotator, and with --truth who errs like whom (PNG, SVG).",
        ),
    ] = None,
    file_format: FileFormat = None,
    format_option: FormatOption = None,
    item: Item = None,
    annotator: Annotator = None,
    label: Label = None,
    classes: Classes = None,
    truth_item: TruthItem = None,
    truth_label: TruthLabel = None,
    on_conflict: OnConflict = "error",
) -> None:
    """Look at a crowd: how many labels, from whom, how far they agree, and how noisy they are.

    crowdwise inspect labels.csv --truth truth.csv --figures figures
    """
    import json
    import sys

    from crowdwise.annotations.summary import summarise
    from crowdwise.annotations.truth import read_truth

    annotations = read_table(
        table, file_format, format_option, item, annotator, label, on_conflict, classes, truth
    )
    known = None
    if truth is not None:
        known = read_truth(truth, annotations=annotations, item=truth_item, label=truth_label)
    summary = {"table": table, **summarise(annotations, known)}

    if figures is not None:
        from crowdwise.report import figures as draw

        drawings = [(draw.labels_per_annotator(annotations), "labels-per-annotator")]
        if known is not None:
            drawings.append((draw.annotator_distances(annotations, known), "annotator-distances"))
        summary["figures"] = [
            str(path) for spec, name in drawings for path in draw.write(spec, figures, name)
        ]

    if as_json:
        sys.stdout.write(json.dumps(summary, indent=2) + "\n")
        return
    from crowdwise.report.overview import show

    show(summary, console_on(sys.stdout), table)
