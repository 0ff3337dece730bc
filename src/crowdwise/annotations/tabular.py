"""Long tables, one row per label: CSV, TSV, JSON lines (or an array of records) and Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from crowdwise.annotations import delimited, jsonlines, parquet
from crowdwise.annotations.columns import find_columns
from crowdwise.annotations.shares import Share
from crowdwise.annotations.source import Source
from crowdwise.annotations.vocabulary import Coded, Where
from crowdwise.errors import InputError

Kind = Literal["csv", "tsv", "jsonl", "parquet"]
KINDS: tuple[Kind, ...] = ("csv", "tsv", "jsonl", "parquet")


def kind_of_table(source: Source) -> Kind:
    """What a file is, by its first bytes, then by its name."""
    head = source.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1") or source.suffix in (".parquet", ".pq"):
        return "parquet"
    if source.suffix in (".jsonl", ".ndjson", ".json"):
        return "jsonl"
    if source.suffix not in (".csv", ".tsv", ".tab") and head[:1] in (b"{", b"["):
        return "jsonl"
    return "tsv" if source.suffix in (".tsv", ".tab") else "csv"


def column_names(source: Source, kind: Kind) -> list[str]:
    """The names of the columns, or the keys of the first record."""
    if kind == "parquet":
        return parquet.names(source)
    if kind == "jsonl":
        return jsonlines.keys(source)
    return delimited.header(source, kind)[0]


def read_table(
    source: Source, kind: Kind, wanted: Mapping[str, str | None], share: Share | None = None
) -> tuple[dict[str, Coded], Where]:
    """The wanted roles' columns, named or found by their usual names, and how to tell a row."""
    columns = find_columns(column_names(source, kind), wanted, source.name)
    if kind == "parquet":
        return parquet.read_columns(source, columns, share)
    if kind == "jsonl":
        if share:
            raise InputError(
                f"{source.name}: JSON lines are not read in shares; save the table as CSV or "
                "Parquet, or run one process"
            )
        return jsonlines.read_columns(source, columns)
    return delimited.read_columns(source, columns, kind, share)
