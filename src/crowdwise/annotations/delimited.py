"""CSV and TSV, read by polars at full speed; what looks wrong is examined line by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from itertools import count

import polars as pl

from crowdwise.annotations.examine import examine, line_of_row, read_slowly
from crowdwise.annotations.shares import Share
from crowdwise.annotations.source import Source
from crowdwise.annotations.texts import PART, Collision, TextCoder, Texts
from crowdwise.annotations.vocabulary import Coded, Where, recognise
from crowdwise.errors import InputError

# No ids and no labels: what is blank to Python, and what NumPy writes for nothing.
DOUBTFUL = r"^[\s\x1c-\x1f]*$|\x00|^(nan|NaN)$"


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
    source: Source, columns: Mapping[str, str], kind: str = "csv", share: Share | None = None
) -> tuple[dict[str, Coded], Where]:
    """The columns (role -> name) as codes and vocabularies, and how to tell a row's line."""
    names, separator = header(source, kind)
    place = {role: names.index(name) for role, name in columns.items()}
    table = _table(source, separator)
    try:
        texts, ragged = _scan(table, len(names), place, share)
    except FAILURES:
        examine(source, names, separator, place)
        ragged, texts = False, read_slowly(source, separator, place)
        texts = share.keep(texts) if share else texts
    if ragged or any(column.texts.str.contains(DOUBTFUL).any() for column in texts.values()):
        examine(source, names, separator, place)
        texts = _without_blank_lines(texts)
    if not share and not any(len(column.codes) for column in texts.values()):
        raise InputError(f"{source.name}: there is a header but no row; give a table with rows")
    if share:
        coded = {role: share.recognise(texts.pop(role), role) for role in place}
        return coded, lambda row: f"{source.name}, {share.name} row {row + 1}"
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


def _scan(
    table: pl.LazyFrame, width: int, place: Mapping[str, int], share: Share | None
) -> tuple[dict[str, Texts], bool]:
    """The wanted columns in one pass, and whether some row may be short.

    Only a pass over every column makes polars refuse the rows that are too long; where a row is
    too short polars fills the cells it lacks, so the last one is empty.
    """
    names = table.collect_schema().names()
    if len(names) != width:
        raise pl.exceptions.ShapeError(f"{len(names)} columns where the header has {width}")
    for seed in count():
        coders = {role: TextCoder(seed) for role in place}
        ragged = False
        try:
            wanted = [names[index] for index in place.values()]
            mine = share.rows(names[place["item"]]) if share else None
            for rows, some_last_empty in _parts(table, wanted, mine):
                ragged = ragged or some_last_empty
                for coder, column in zip(coders.values(), rows, strict=True):
                    coder.add(column)
        except Collision:
            continue
        # A coder goes as soon as its texts are there: it holds as much again.
        return {role: coders.pop(role).texts() for role in place}, ragged
    raise AssertionError("the seeds never end")


def _parts(
    table: pl.LazyFrame, wanted: list[str], mine: pl.Expr | None
) -> Iterator[tuple[pl.DataFrame, bool]]:
    """The wanted columns, some rows at a time, and whether one of these rows ends in nothing.

    polars calls `collect_batches` unstable: `tests/annotations/test_readers.py` would notice.
    """
    batches: list[pl.DataFrame] = []
    some_last_empty = False
    for batch in table.collect_batches():
        some_last_empty = some_last_empty or bool((batch.to_series(-1) == "").any())
        batches.append(batch.select(wanted) if mine is None else batch.filter(mine).select(wanted))
        if sum(map(len, batches)) >= PART:
            yield pl.concat(batches, rechunk=True), some_last_empty
            batches = []
    if batches:
        yield pl.concat(batches, rechunk=True), some_last_empty


def _without_blank_lines(columns: dict[str, Texts]) -> dict[str, Texts]:
    """The rows of a table in which only blank lines have empty cells, and those have no others."""
    some = next(iter(columns.values()))
    if not len(some.texts) or some.texts[0] != "":  # "" sorts first
        return columns
    filled = some.codes > 0
    return {role: Texts(codes[filled] - 1, texts[1:]) for role, (codes, texts) in columns.items()}
