"""From bytes to records: text, JSON, JSON lines and tables, each complaint with its place."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from crowdwise.errors import InputError

HEAD = 65_536  # bytes that a detector looks at

ITEM_NAMES = ("item", "item_id", "task", "task_id", "id", "example", "example_id")
ANNOTATOR_NAMES = (
    "annotator",
    "annotator_id",
    "worker",
    "worker_id",
    "user",
    "user_id",
    "rater",
    "rater_id",
)
LABEL_NAMES = ("label", "answer", "response", "value", "class")


def decode(raw: bytes, name: str) -> str:
    """The file's text; a byte-order mark is dropped, other encodings and NUL are refused.

    Example:
        >>> decode(b"\\xef\\xbb\\xbfid,ann", "crowd.csv")
        'id,ann'
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(
            f"{name}, line {line}: not UTF-8 text (byte {raw[error.start]:#04x}); "
            "save the file as UTF-8"
        ) from error
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise InputError(f"{name}, line {line}: a NUL byte; save the file as plain UTF-8 text")
    if not text.strip():
        raise InputError(f"{name}: the file is empty; export it again")
    return text


def load_json(
    text: str,
    name: str,
    first_line: int = 1,
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Parse JSON; whatever is wrong with it becomes one sentence with line and column."""
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise InputError(
            f"{name}, line {line}, column {error.colno}: broken JSON ({error.msg}); "
            "export the file again, it may have been cut off"
        ) from error
    except RecursionError as error:
        raise InputError(
            f"{name}, line {first_line}: JSON nested too deeply to be a crowd's table; "
            "check that this is the right file"
        ) from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise InputError(
            f"{name}, line {first_line}: a number with too many digits; write long ids in quotes"
        ) from error


def records(raw: bytes, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON list or of JSON lines, each with its place.

    Example:
        >>> list(records(b'{"id": 1}\\n{"id": 2}\\n', "crowd.jsonl"))
        [('crowd.jsonl, line 1', {'id': 1}), ('crowd.jsonl, line 2', {'id': 2})]
    """
    text = decode(raw, name)
    if text.lstrip().startswith("["):
        for number, value in enumerate(load_json(text, name), start=1):
            where = f"{name}, record {number}"
            yield where, as_object(value, where)
    elif _first_line_is_whole(text):
        # Not splitlines(): strings may hold line separators that JSON leaves unescaped.
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                where = f"{name}, line {number}"
                yield where, as_object(load_json(line, name, first_line=number), where)
    else:
        yield f"{name}, record 1", as_object(load_json(text, name), f"{name}, record 1")


def _first_line_is_whole(text: str) -> bool:
    try:
        json.loads(text.lstrip().split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return True


def table(raw: bytes, name: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Header and rows of a CSV or TSV file; each row comes with the line it starts on.

    Example:
        >>> header, rows = table(b"id,ann,bob\\n7,cat,\\n", "crowd.csv")
        >>> header, list(rows)
        (['id', 'ann', 'bob'], [(2, ['7', 'cat', ''])])
    """
    text = decode(raw, name)
    rows = _rows(text, name)
    line, header = next(rows)
    column, times = Counter(header).most_common(1)[0]
    if times > 1:
        raise InputError(
            f"{name}, line {line}: the column {shown(column)} appears twice; rename one of them"
        )
    return header, _square(rows, header, name)


def header_of(raw: bytes) -> list[str]:
    """The first row of what may be a table; empty when it is none."""
    return (head_rows(raw) or [[]])[0]


def head_rows(raw: bytes, most: int = 200) -> list[list[str]]:
    """The first rows of what may be a table, as far as they are whole and square."""
    text = raw[:HEAD].decode("utf-8-sig", errors="ignore")
    if len(raw) > HEAD:
        text = text.rpartition("\n")[0]
    if not text.strip() or "\0" in text or text.lstrip()[0] in "[{":
        return []
    seen: list[list[str]] = []
    try:
        for _, row in _rows(text, ""):
            if len(seen) == most or (seen and len(row) != len(seen[0])):
                break
            seen.append(row)
    except InputError:
        pass
    return seen


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    first = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(",\t;", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{name}, line {line}: a row that cannot be read ({error}); check its quotation marks"
        ) from error


def _square(
    rows: Iterator[tuple[int, list[str]]], header: list[str], name: str
) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows:
        if len(row) != len(header):
            raise InputError(
                f"{name}, line {line}: {len(row)} cells where the header has {len(header)}; "
                "mend the row or put quotation marks around text with separators"
            )
        yield line, row


def as_object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        wrong(value, "an object", where)
    return value


def as_list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        wrong(value, "a list", where)
    return value


def wrong(value: Any, wanted: str, where: str) -> NoReturn:
    raise InputError(
        f"{where}: {shown(value)} where {wanted} is expected; check that this is the right format"
    )


def shown(value: Any) -> str:
    """A value as a message shows it: short, on one line, never descending into it."""
    if value is None:
        return "nothing (null)"
    if not isinstance(value, str | int | float | list):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a very long number"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names for a message, not too many of them."""
    rest = len(names) - most
    readable = [
        name if name.isprintable() and 0 < len(name) <= 60 else shown(name) for name in names[:most]
    ]
    return ", ".join(readable) + (f" and {rest} more" if rest > 0 else "")


def named(value: str | Sequence[str] | None) -> list[str] | None:
    """An option that takes several names: a list of them, or one text with commas."""
    if value is None:
        return None
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else list(value)
