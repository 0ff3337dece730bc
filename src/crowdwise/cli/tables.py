"""What every command that reads a crowd's table asks for, worded once."""

from typing import Annotated, Any

import typer

from crowdwise.errors import InputError

Table = Annotated[
    str, typer.Argument(metavar="TABLE", help="The crowd's labels: a file, or - for stdin.")
]
Truth = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="True labels, one row per item: to measure, never to fit."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, for programs to read.")
]
FileFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="What wrote TABLE; guessed if not given."),
]
FormatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--format-option",
        metavar="NAME=VALUE",
        help="What the format asks for, as from_name=animal; repeatable.",
    ),
]
Item = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Which column names the labelled item.")
]
Annotator = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Which column names the person.")
]
Label = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Which column holds the label given.")
]
TruthItem = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The item column of the --truth file.")
]
TruthLabel = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The label column of the --truth file.")
]
OnConflict = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        help="If someone gave an item two labels: error, first, last, majority or drop.",
    ),
]
_OWN = {"path", "format", "item", "annotator", "label", "classes", "on_conflict"}


def read_table(
    table: str,
    file_format: str | None,
    format_options: list[str] | None,
    item: str | None,
    annotator: str | None,
    label: str | None,
    on_conflict: str,
) -> Any:
    """The crowd's `Annotations`, read as the options say."""
    from crowdwise.annotations.readers import read_annotations

    named: dict[str, Any] = pairs(format_options, "--format-option", taken=_OWN)
    return read_annotations(
        table,
        format=file_format,
        item=item,
        annotator=annotator,
        label=label,
        on_conflict=on_conflict,
        **named,
    )


def pairs(
    given: list[str] | None, option: str, taken: set[str] | frozenset[str] = frozenset()
) -> dict[str, Any]:
    """NAME=VALUE as keyword arguments; true, false and numbers are meant as such.

    Example:
        >>> pairs(["n-groups=20", "lr=0.5", "active=head"], "--set")
        {'n_groups': 20, 'lr': 0.5, 'active': 'head'}
    """
    named: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not (equals and name.isidentifier()):
            raise InputError(f"{option} {text!r} is not NAME=VALUE; write for example name=value")
        if name in named or name in taken:
            raise InputError(f"{option} {text!r}: {name} is given elsewhere; give it once")
        named[name] = _value(value.strip())
    return named


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
