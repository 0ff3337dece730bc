"""Frames written for spreadsheets and programs: CSV whose cells are never formulas, or Parquet."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from crowdwise.errors import InputError
from crowdwise.files import whole

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-][0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", re.IGNORECASE)


def neutralised(text: str) -> str:
    """`text` as a cell that spreadsheets show and do not run: a quote before = + - @, tab, CR.

    Plain numbers such as -1 stay as they are.

    Example:
        >>> neutralised('=HYPERLINK("evil")'), neutralised("-1"), neutralised("cat")
        ('\\'=HYPERLINK("evil")', '-1', 'cat')
    """
    if not text.startswith(_FORMULA) or _NUMBER.fullmatch(text):
        return text
    return "'" + text


def csv_text(frame: pl.DataFrame) -> str:
    """`frame` as CSV with column names and text cells neutralised."""
    safe = frame.with_columns(
        pl.col(name).map_elements(neutralised, return_dtype=pl.String)
        for name, kind in frame.schema.items()
        if kind == pl.String and frame[name].str.contains(r"^[=+\-@\t\r]").any()
    )
    return safe.rename({name: neutralised(name) for name in frame.columns}).write_csv()


def kind_of_file(path: str) -> str:
    """.csv or .parquet, by the name."""
    kind = Path(path).suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InputError(f"{path}: the name says no known format; end it in .csv or .parquet")
    return kind


def write_frame(frame: pl.DataFrame, path: str) -> None:
    """Write `frame` to a .csv or .parquet file, whole or not at all."""
    kind = kind_of_file(path)
    with whole(path) as temporary:
        if kind == ".csv":
            temporary.write_text(csv_text(frame), encoding="utf-8")
        else:
            frame.write_parquet(temporary)
