"""CSV and TSV, read by polars at full speed; what looks wrong is examined line by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import polars as pl

from crowdwise.annotations.examine import examine, line_of_row, read_slowly
from crowdwise.annotations.source import Source
from crowdwise.annotations.vocabulary import Coded, Texts, Where, encode_texts, recognise
from crowdwise.errors import InputError

DOUBTFUL = "^$|\\x00|^(nan|NaN)$"  # no ids and no labels: what an empty cell or NumPy writes


FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def header(source: Source, kind: str = "csv") -> tuple[list[str], str]:
    """The column names and the separator: a tab in TSV, else the header's most frequent."""
    head = source.head().removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    line = head.split(b"\n", 1)[0].removesuffix(b"\r")
    if b"\0" in line:
        raise InputError(f"{source.name}, line 1: a NUL byte in the header; save as UTF-8 text")
    if b"\r" in line:
        raise InputError(
            f"{source.name}, line 1: lines end in a bare carriage return; save with line feeds"
        )
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source.name}, line 1: the header is not UTF-8; save as UTF-8"
        ) from error
    separator = "\t" if kind == "tsv" else max(",\t;|", key=text.count)
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except (csv.Error, StopIteration) as error:
        raise InputError(
            f"{source.name}, line 1: the header's quotes do not match; repair the header"
        ) from error
    return names, separator


def read_columns(
    source: Source, columns: Mapping[str, str], kind: str = "csv"
) -> tuple[dict[str, Coded], Where]:
    """The columns (role -> name) as codes and vocabularies, and how to tell a row's line."""
    names, separator = header(source, kind)
    place = {role: names.index(name) for role, name in columns.items()}
    table = _table(source, separator)
    try:
        ragged = _may_be_ragged(table, len(names))
        texts = _scan(table, place)
    except FAILURES:
        examine(source, names, separator, place)
        ragged, texts = False, read_slowly(source, separator, place)
    if ragged or any(column.texts.str.contains(DOUBTFUL).any() for column in texts.values()):
        examine(source, names, separator, place)
        texts = _without_blank_lines(texts)
    if not any(len(column.codes) for column in texts.values()):
        raise InputError(f"{source.name}: there is a header but no row; give a table with rows")
    coded = {role: recognise(texts.pop(role), role) for role in place}
    return coded, lambda row: f"{source.name}, line {line_of_row(source, separator, row)}"


def _table(source: Source, separator: str) -> pl.LazyFrame:
    return pl.scan_csv(
        source.scannable(),
        separator=separator,
        infer_schema=False,  # every value as it is written
        empty_string_is_null=False,
        glob=False,
    )


def _may_be_ragged(table: pl.LazyFrame, width: int) -> bool:
    """Whether some row may be short: polars fills the cells it lacks, so the last one is empty.

    Only a pass over every column makes polars refuse the rows that are too long.
    """
    empty = table.select((pl.all() == "").any()).collect(engine="streaming")
    if empty.width != width:
        raise pl.exceptions.ShapeError(f"{empty.width} columns where the header has {width}")
    return empty.height > 0 and empty.row(0)[-1] is True


def _scan(table: pl.LazyFrame, place: Mapping[str, int]) -> dict[str, Texts]:
    """The columns one after the other: parsing is cheap, a column's text in memory is not."""
    names = table.collect_schema().names()
    return {
        role: encode_texts(table.select(names[index]).collect().to_series())
        for role, index in place.items()
    }


def _without_blank_lines(columns: dict[str, Texts]) -> dict[str, Texts]:
    """The rows of a table in which only blank lines have empty cells, and those have no others."""
    some = next(iter(columns.values()))
    if not len(some.texts) or some.texts[0] != "":  # "" sorts first
        return columns
    filled = some.codes > 0
    return {role: Texts(codes[filled] - 1, texts[1:]) for role, (codes, texts) in columns.items()}
