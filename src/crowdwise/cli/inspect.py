"""`crowdwise inspect`: what a crowd's table says about itself, for people or for programs."""

from typing import Annotated, Any

import typer

from crowdwise.errors import InputError

_OWN_OPTIONS = {"path", "format", "item", "annotator", "label", "classes", "on_conflict"}


def inspect(
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="The crowd's labels: a file, or - for stdin."),
    ],
    truth: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="True labels, one row per item, to measure the noise."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, for programs to read.")
    ] = False,
    figures: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Draw labels per annotator, and with --truth who errs like whom (PNG, SVG).",
        ),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="What wrote TABLE; guessed if not given."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="What the format asks for, as from_name=animal; repeatable."
        ),
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Which column names the labelled item.")
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Which column names the person.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Which column holds the label given.")
    ] = None,
    truth_item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The item column of the --truth file.")
    ] = None,
    truth_label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The label column of the --truth file.")
    ] = None,
    on_conflict: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="If someone gave an item two labels: error, first, last, majority or drop.",
        ),
    ] = "error",
) -> None:
    """Look at a crowd: how many labels, from whom, how far they agree, and how noisy they are.

    crowdwise inspect labels.csv --truth truth.csv --figures figures
    """
    import io
    import json
    import sys

    from crowdwise.annotations.readers import read_annotations
    from crowdwise.annotations.summary import summarise
    from crowdwise.annotations.truth import read_truth

    annotations = read_annotations(
        table,
        format=file_format,
        item=item,
        annotator=annotator,
        label=label,
        on_conflict=on_conflict,
        **_named(option or []),
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
    from rich.console import Console

    from crowdwise.report.overview import show

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Unicode shows ? for é
    show(summary, Console(), table)


def _named(options: list[str]) -> dict[str, Any]:
    """The format's options as keyword arguments; true and false are meant as such."""
    named: dict[str, Any] = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not (equals and name.isidentifier()):
            raise InputError(f"--option {text!r} is not NAME=VALUE; write for example from_name=q1")
        if name in named or name in _OWN_OPTIONS:
            raise InputError(f"--option {text!r}: {name} is given elsewhere; give it once")
        named[name] = {"true": True, "false": False}.get(value, value)
    return named
