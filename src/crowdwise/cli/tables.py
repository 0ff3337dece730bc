"""What every command that reads a crowd's table asks for, worded once."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from io import TextIOWrapper
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
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="An option of the method, as n_groups=20; repeatable.",
    ),
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
Classes = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Every class in order, with commas between; sorted, as found, if not given.",
    ),
]
Features = Annotated[
    str,
    typer.Option(
        metavar="PATH",
        help="What describes the items: .npy, .npz (x, items), a .csv/.tsv/.parquet with a column "
        "naming the item, or a folder of images named by item.",
    ),
]
Items = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Item ids of a matrix's rows, one per line (or .npy)."),
]
FeaturesItem = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The item column of the features' table.")
]
Embed = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Read texts: tfidf (words, no model), or a sentence encoder's name or folder "
        "(extra text).",
    ),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="COLUMN", help="A column that holds the text; repeatable."),
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
    classes: str | None = None,
    truth: str | None = None,
) -> Any:
    """The crowd's `Annotations`, read as the options say; `truth` is the file to read next."""
    from crowdwise.annotations.readers import read_annotations

    if table == truth == "-":
        raise InputError("TABLE and --truth are both standard input (-); name a file for one")
    named: dict[str, Any] = pairs(format_options, "--format-option", _word, taken=_OWN)
    return read_annotations(
        table,
        format=file_format,
        item=item,
        annotator=annotator,
        label=label,
        classes=classes,
        on_conflict=on_conflict,
        **named,
    )


def settings_of(given: list[str] | None, taken: Iterable[str] = ()) -> dict[str, Any]:
    """A method's options from --set, numbers as numbers, a list's values between commas.

    Example:
        >>> settings_of(["n-groups=20", "lr=0.5", "active=head", "milestones=40,60"])
        {'n_groups': 20, 'lr': 0.5, 'active': 'head', 'milestones': (40, 60)}
    """
    return pairs(given, "--set", _value, taken)


def pairs(
    given: list[str] | None, option: str, read: Callable[[str], Any], taken: Iterable[str] = ()
) -> dict[str, Any]:
    """NAME=VALUE texts as keyword arguments, every value as `read` takes it.

    Example:
        >>> pairs(["from_name=1", "predictions=true"], "--format-option", _word)
        {'from_name': '1', 'predictions': True}
    """
    named: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not (equals and name.isidentifier()):
            raise InputError(f"{option} {text!r} is not NAME=VALUE; write for example name=value")
        if name in named or name in taken:
            raise InputError(f"{option} {text!r}: {name} is given elsewhere; give it once")
        named[name] = read(value.strip())
    return named


def _word(text: str) -> Any:
    return {"true": True, "false": False}.get(text, text)


def _value(text: str) -> Any:
    if "," in text:
        return tuple(_value(part.strip()) for part in text.split(",") if part.strip())
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return _word(text)


def console_on(stream: Any) -> Any:
    """A rich console on a stream; a terminal without Unicode shows ? for what it cannot show."""
    from rich.console import Console

    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    return Console(file=stream)


def size_of(text: str | None) -> tuple[int, int] | None:
    """Height and width from --image-size: 64, or HEIGHTxWIDTH.

    Example:
        >>> size_of("64"), size_of("48x64"), size_of(None)
        ((64, 64), (48, 64), None)
    """
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) > 2 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"--image-size is {text!r}; give pixels as 64 or as HEIGHTxWIDTH")
    return int(parts[0]), int(parts[-1])
