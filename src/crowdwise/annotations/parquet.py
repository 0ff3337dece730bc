"""Parquet tables."""

from __future__ import annotations

import io
from collections.abc import Mapping
from errno import ENOENT
from pathlib import Path

import polars as pl

from crowdwise.annotations.shares import Share
from crowdwise.annotations.source import Source
from crowdwise.annotations.vocabulary import Coded, Where, encode
from crowdwise.errors import InputError
from crowdwise.files import refuse_bomb

VALUE = 8  # bytes of a value in memory
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)


def names(source: Source) -> list[str]:
    """The column names; a table that says it has far more rows than its bytes hold is refused."""
    try:
        scan = _scan(source)
        packed = source.path.stat().st_size if source.path else len(source.data)
        _refuse_many_rows(scan, source.name, packed)
        return scan.collect_schema().names()
    except InputError:
        raise
    except FAILURES as error:
        raise _broken(source, error) from error


def read_columns(
    source: Source, columns: Mapping[str, str], share: Share | None = None
) -> tuple[dict[str, Coded], Where]:
    """The columns (role -> name) as codes and vocabularies, and how to tell a row."""

    def where(row: int) -> str:
        return (
            f"{source.name}, {share.name} row {row + 1}"
            if share
            else f"{source.name}, row {row + 1}"
        )

    coded = {}
    for role, name in columns.items():  # one at a time: the texts of one column are enough memory
        try:
            table = _scan(source)
            if share:
                table = table.filter(share.rows(columns["item"]))
            column = table.select(pl.col(name)).collect(engine="streaming").to_series()
        except FAILURES as error:
            raise _broken(source, error) from error
        coded[role] = encode(column, role, where)
        if share:
            coded[role] = share.unite(coded[role], role)
    if not share and not any(len(column.codes) for column in coded.values()):
        raise InputError(f"{source.name}: the table has columns but no row; give one with rows")
    return coded, where


def _scan(source: Source) -> pl.LazyFrame:
    data = source.scannable()
    if isinstance(data, bytes):
        return pl.scan_parquet(io.BytesIO(data))
    return pl.scan_parquet(data, glob=False, hive_partitioning=False)


def whole_table(path: Path) -> pl.DataFrame:
    """Every column of the file of that very name, its rows bounded by its size."""
    if not path.is_file():
        raise FileNotFoundError(ENOENT, "no such file")
    scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    _refuse_many_rows(scan, str(path), path.stat().st_size)
    return scan.collect()


def _refuse_many_rows(scan: pl.LazyFrame, name: str, packed: int) -> None:
    refuse_bomb(name, VALUE * scan.select(pl.len()).collect().item(), packed)


def _broken(source: Source, error: BaseException) -> InputError:
    reason = str(error).split("\n", 1)[0][:120] or type(error).__name__
    return InputError(f"{source.name}: not a readable Parquet file ({reason}); write it again")
