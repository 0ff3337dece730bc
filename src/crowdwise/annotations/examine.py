"""Delimited text line by line with the standard library: slow, exact, and it names the line."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence

from crowdwise.annotations.coder import StreamCoder
from crowdwise.annotations.objects import text_fault
from crowdwise.annotations.source import Source
from crowdwise.annotations.texts import Texts
from crowdwise.errors import InputError

NAN = ("nan", "NaN")


def rows(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank, the header first, with the line it starts on (from 1)."""
    reader = csv.reader(_lines(source), delimiter=separator, strict=True)
    limit = csv.field_size_limit(sys.maxsize)
    try:
        start = 1
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{source.name}, line {start}: quotes or line ends do not match ({error}); "
            "repair the row"
        ) from error
    finally:
        csv.field_size_limit(limit)


def _lines(source: Source) -> Iterator[str]:
    file = io.BytesIO(source.data) if source.path is None else source.path.open("rb")
    with file:
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{source.name}, line {number}: not UTF-8 text "
                    f"(byte {line[error.start]:#04x}); save the file as UTF-8"
                ) from error


def examine(source: Source, names: Sequence[str], separator: str, place: Mapping[str, int]) -> None:
    """Stop at the first row that is ragged or lacks an id or a label; blank lines may stay."""
    body = rows(source, separator)
    next(body, None)
    for line, row in body:
        where = f"{source.name}, line {line}"
        if len(row) != len(names):
            raise InputError(
                f"{where}: {_cells(row)} where the header has {len(names)}; repair the row"
            )
        for role, index in place.items():
            value = row[index]
            fault = "is NaN" if value in NAN else text_fault(value)
            if fault:
                raise InputError(
                    f"{where}, column {names[index]!r}: the {role} {fault}; repair or drop the row"
                )


def _cells(row: Sequence[str]) -> str:
    text = ", ".join(row)
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return f"{len(row)} cell{'' if len(row) == 1 else 's'} ({shown})"


def read_slowly(source: Source, separator: str, place: Mapping[str, int]) -> dict[str, Texts]:
    """The columns of a file that `examine` passed but polars refuses, a lone quote for one."""
    body = rows(source, separator)
    next(body, None)
    coders = {role: StreamCoder(role) for role in place}
    for _, row in body:
        for role, index in place.items():
            coders[role].add(row[index])
    return {role: coder.texts() for role, coder in coders.items()}


def line_of_row(source: Source, separator: str, row: int) -> int:
    """The line on which a data row starts; rows are counted from 0 without blank lines."""
    body = rows(source, separator)
    next(body, None)
    return next(line for index, (line, _) in enumerate(body) if index == row)
