"""A crowd's table from a file: `read_annotations` finds out what it is and reads it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import polars as pl

from crowdwise.annotations.columns import find_columns
from crowdwise.annotations.shares import Share
from crowdwise.annotations.source import Source, open_source
from crowdwise.annotations.table import Annotations
from crowdwise.annotations.tabular import KINDS, column_names, kind_of_table, read_table
from crowdwise.annotations.vocabulary import Coded, Where, encode
from crowdwise.errors import InputError

MOST_CLASSES = 1_000  # beyond these, a class for every four labels is an id column by mistake


def read_annotations(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    classes: Iterable[Any] | str | None = None,
    on_conflict: str = "error",
    **format_options: Any,
) -> Annotations:
    """Read a crowd's table: one row per label, or an annotation tool's export.

    A long table is CSV, TSV, JSON lines or Parquet. In CSV and TSV a column whose every value is
    written as an integer is read as integers (labels also as booleans: true/false); 007 stays
    text. What is found to be no long table is offered to the tools' formats.

    Args:
        path: a file, gzip of one, or `-` for standard input.
        format: csv, tsv, jsonl, parquet, or one of `crowdwise.annotations.exports.FORMATS`;
            found from the name and the content when None.
        item, annotator, label: column names; found by their usual names when None.
        classes: the class order, as a list or one text with commas; sorted when None. It may hold
            classes nobody used. In one-hot tables these are the columns that are read.
        on_conflict: what becomes of an annotator's contradicting labels for one item:
            error, first, last, majority or drop. Identical repeats are dropped and counted.
        format_options: options of the format's parser.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "crowd.csv"
        >>> _ = path.write_text("task,worker,label\\n1,ann,yes\\n1,bob,no\\n2,ann,no\\n")
        >>> read_annotations(path)
        Annotations(3 labels: 2 items, 2 annotators, classes ['no', 'yes'])
    """
    classes = _listed(classes)
    source = open_source(path)
    wanted = {"item": item, "annotator": annotator, "label": label}
    found = _find_format(source, format, wanted)
    if found in KINDS:
        if format_options:
            raise InputError(
                f"{source.name}: a {found} table has no option {next(iter(format_options))!r}"
            )
        columns, where = read_table(source, found, wanted)
    else:
        named = {role: name for role, name in wanted.items() if name is not None}
        columns, where = _read_export(source, found, {**named, **format_options}, classes)
    ordered = [columns[role] for role in wanted]
    _check_classes(ordered[2], classes, source)
    return Annotations.from_coded(ordered, classes, on_conflict, where)


def read_share(
    path: str | os.PathLike[str],
    share: Share,
    *,
    format: str | None = None,  # noqa: A002
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    classes: Iterable[Any] | str | None = None,
    on_conflict: str = "error",
) -> Annotations:
    """The labels of the items dealt to one process, read from a CSV, TSV or Parquet file.

    Annotators and classes are those of the whole table, with the same codes in every process;
    `n_items` counts this share's. For the arguments see `read_annotations`.
    """
    source = open_source(path)
    if source.path is None:
        raise InputError(
            f"{source.name}: every process reads its share of the table from disk; give a file "
            "that is neither packed nor piped"
        )
    wanted = {"item": item, "annotator": annotator, "label": label}
    found = _find_format(source, format, wanted)
    if found not in KINDS:
        raise InputError(
            f"{source.name}: a {found} export is not read in shares; save it as CSV or Parquet "
            "first, or run one process"
        )
    columns, where = read_table(source, found, wanted, share)
    ordered = [columns[role] for role in wanted]
    named = _listed(classes)
    _check_classes(ordered[2], named, source)
    return Annotations.from_coded(ordered, named, on_conflict, where)


def _find_format(source: Source, name: str | None, wanted: dict[str, str | None]) -> str:
    """The named format; else a long table if it has the columns; else the first that fits."""
    from crowdwise.annotations.exports import FORMATS

    if name is not None:
        if name in KINDS or name in FORMATS:
            return name
        known = ", ".join([*KINDS, *FORMATS])
        raise InputError(f"no format is called {name!r}; choose one of {known}")
    kind = kind_of_table(source)
    names = column_names(source, kind)
    try:
        find_columns(names, wanted, source.name)
        return kind
    except InputError as error:
        head = source.head()
        if kind != "parquet" and not any(wanted.values()):
            for export in FORMATS.values():
                if export.detect(head, source.name):
                    return export.name
        if kind in ("csv", "tsv") and not any(_has(names, role) for role in ("annotator", "label")):
            raise InputError(
                f"{error}; or, where each annotator has a column, read it with --format wide"
            ) from error
        raise


def _has(names: list[str], role: str) -> bool:
    with suppress(InputError):
        return bool(find_columns(names, {role: None}, ""))
    return False


def _read_export(
    source: Source, name: str, options: dict[str, Any], classes: list[Any] | None
) -> tuple[dict[str, Coded], Where]:
    from crowdwise.annotations.exports import FORMATS

    export = FORMATS[name]
    unknown = [option for option in options if option not in export.options]
    if unknown:
        known = ", ".join(export.options) or "none"
        raise InputError(f"the format {name} has no option {unknown[0]!r}; it has {known}")
    if classes is not None and "classes" in export.options:
        options = {**options, "classes": [str(name) for name in classes]}
    frame: pl.DataFrame = export.parse(source.read(), source.name, **options)

    def where(row: int) -> str:
        return f"{source.name}, answer {row + 1}"

    return {
        role: encode(frame[role], role, where) for role in ("item", "annotator", "label")
    }, where


def _listed(classes: Iterable[Any] | str | None) -> list[Any] | None:
    """The class order as a list; one text names them between commas."""
    if isinstance(classes, str):
        return [name.strip() for name in classes.split(",")]
    return None if classes is None else list(classes)


def _check_classes(label: Coded, classes: Iterable[Any] | None, source: Source) -> None:
    """A crowd's labels have several classes, and far fewer classes than labels."""
    n, names = len(label.codes), label.vocabulary.tolist()
    if len(names) > MOST_CLASSES and 4 * len(names) > n:
        raise InputError(
            f"{source.name}: {len(names)} classes in {n} labels ({names[0]}, {names[1]}, ...); "
            "this looks like a column of ids: name the label's column with --label COLUMN"
        )
    if len(names) == 1 and classes is None:
        raise InputError(
            f"{source.name}: every label is {names[0]!r}; a crowd's table needs two classes or "
            "more (or name the others too: --classes)"
        )
