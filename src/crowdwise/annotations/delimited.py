"""CSV and TSV, read by polars at full speed; what looks wrong is examined line by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

import polars as pl

from crowdwise.annotations.examine import examine, line_of_row, read_slowly
from crowdwise.annotations.source import Source
from crowdwise.annotations.vocabulary import (
    Coded,
    Where,
    categories,
    encode_categorical,
    own_categorical,
)
from crowdwise.errors import InputError

DOUBTFUL = "^$|\\x00|^(nan|NaN)$"  # no ids and no labels: what an empty cell or NumPy writes


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
    frame = _scan(source, separator, place, len(names))
    if frame is None or _is_doubtful(frame, place):
        examine(source, names, separator, place)
    coded = (
        read_slowly(source, separator, place)
        if frame is None
        else _encode(_without_blank_lines(frame, place), place)
    )
    if not any(len(column.codes) for column in coded.values()):
        raise InputError(f"{source.name}: there is a header but no row; give a table with rows")
    return coded, lambda row: f"{source.name}, line {line_of_row(source, separator, row)}"


def _scan(
    source: Source, separator: str, place: Mapping[str, int], width: int
) -> pl.DataFrame | None:
    """The wanted columns as categoricals and `end`, true where a row's last cell is empty."""
    try:
        table = pl.scan_csv(
            source.scannable(),
            separator=separator,
            infer_schema=False,  # every value as it is written
            empty_string_is_null=False,
            glob=False,
        )
        ours = table.collect_schema().names()
        if len(ours) != width:
            return None
        wanted = [
            pl.col(ours[index]).cast(own_categorical()).alias(role) for role, index in place.items()
        ]
        if width - 1 not in place.values():  # polars fills the cells that a short row lacks
            wanted.append((pl.col(ours[-1]) == "").alias("end"))
        return table.select(wanted).collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None


def _is_doubtful(frame: pl.DataFrame, place: Mapping[str, int]) -> bool:
    """Whether some row may be ragged, blank, or without an id or a label."""
    if "end" in frame.columns and frame["end"].any():
        return True
    return any(categories(frame[role]).str.contains(DOUBTFUL).any() for role in place)


def _without_blank_lines(frame: pl.DataFrame, roles: Iterable[str]) -> pl.DataFrame:
    """The rows of a table in which only blank lines have an empty id or label."""
    if not any((categories(frame[role]) == "").any() for role in roles):
        return frame
    texts = frame.select(pl.col(role).cast(pl.String) for role in roles)
    texts = texts.filter(pl.any_horizontal(pl.col(role) != "" for role in roles))
    return texts.select(pl.col(role).cast(own_categorical()) for role in roles)


def _encode(frame: pl.DataFrame, roles: Iterable[str]) -> dict[str, Coded]:
    coded = {}
    for role in roles:
        coded[role] = encode_categorical(frame[role], role, infer=True)
        frame = frame.drop(role)  # its texts are no longer needed: let their memory go
    return coded
