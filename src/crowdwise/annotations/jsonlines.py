"""JSON lines, and a JSON array of flat records: one object per label."""

from __future__ import annotations

import io
import json
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from crowdwise.annotations.coder import StreamCoder
from crowdwise.annotations.objects import check_value, short
from crowdwise.annotations.source import Source
from crowdwise.annotations.vocabulary import Coded, Where
from crowdwise.errors import InputError

Record = dict[str, Any]


def keys(source: Source) -> list[str]:
    """The keys of the first record."""
    return list(next(_records(source))[1])


def read_columns(source: Source, columns: Mapping[str, str]) -> tuple[dict[str, Coded], Where]:
    """The values under the keys (role -> key) as codes and vocabularies, and a row's place."""
    coders = {role: StreamCoder(role) for role in columns}
    kinds: dict[str, type] = {}
    numbers = array("q")
    unit = "record" if _is_array(source) else "line"

    def where(number: int) -> str:
        return f"{source.name}, {unit} {number}"

    for number, record in _records(source):
        numbers.append(number)
        for role, key in columns.items():
            if key not in record:
                raise InputError(
                    f"{where(number)}: there is no {role} ({key!r}); fill it in or drop the row"
                )
            value, kind = check_value(record[key], role, kinds.get(role), where, number)
            kinds[role] = kind
            coders[role].add(value)
    coded = {role: coder.coded() for role, coder in coders.items()}
    return coded, lambda row: where(numbers[row])


def _is_array(source: Source) -> bool:
    return source.head().removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _records(source: Source) -> Iterator[tuple[int, Record]]:
    """Every record with its line, or its place in the array, counted from 1; never none."""
    if _is_array(source):
        values = _parse(source.read(), f"{source.name}", "utf-8-sig")
        numbered: Iterator[tuple[int, Any]] = enumerate(values, 1)
        unit = "record"
    else:
        numbered = _lines(source)
        unit = "line"
    empty = True
    for number, record in numbered:
        if not isinstance(record, dict):
            raise InputError(
                f"{source.name}, {unit} {number}: {short(record)} where an object such as "
                '{"item": 1, "annotator": "ann", "label": "yes"} should be'
            )
        empty = False
        yield number, record
    if empty:
        raise InputError(f"{source.name}: there are no records; give a table with rows")


def _lines(source: Source) -> Iterator[tuple[int, Any]]:
    file = io.BytesIO(source.data) if source.path is None else source.path.open("rb")
    with file:
        for number, line in enumerate(file, 1):
            if line.strip():
                encoding = "utf-8-sig" if number == 1 else "utf-8"
                yield number, _parse(line, f"{source.name}, line {number}", encoding)


def _parse(raw: bytes, where: str, encoding: str) -> Any:
    try:
        return json.loads(raw.decode(encoding))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: not UTF-8 text (byte {raw[error.start]:#04x}); save the file as UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if "line" in where else f"line {error.lineno}"
        raise InputError(f"{where}, {place}: not JSON ({error.msg}); repair it") from error
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, 10,000 brackets
        raise InputError(f"{where}: JSON beyond reason ({error}); repair it") from error
