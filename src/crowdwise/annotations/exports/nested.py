"""Nested JSON, as peerannot writes it: {item: {annotator: label}}."""

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from crowdwise.annotations.exports.rows import Rows, check_one
from crowdwise.annotations.exports.source import HEAD, decode, load_json, shown, wrong
from crowdwise.errors import InputError

_TEXT = rb'"(?:[^"\\]|\\.)*"'
_PAIR = _TEXT + rb"\s*:\s*(?:-?\d+|true|false|" + _TEXT + rb")"
_FIRST_ITEM = re.compile(
    rb"\s*\{\s*" + _TEXT + rb"\s*:\s*\{\s*" + _PAIR + rb"(?:\s*,\s*" + _PAIR + rb")*\s*\}"
    rb"\s*(?:\}\s*\Z|,\s*" + _TEXT + rb"\s*:\s*\{)"
)


def detect(raw: bytes, name: str) -> bool:
    return _FIRST_ITEM.match(raw[:HEAD].removeprefix(b"\xef\xbb\xbf")) is not None


def parse(raw: bytes, name: str) -> pl.DataFrame:
    """Read {item: {annotator: label}}; ids that are all integers in quotes become integers.

    Example:
        >>> parse(b'{"0": {"12": "cat", "7": "dog"}}', "answers.json").rows()
        [(0, 12, 'cat'), (0, 7, 'dog')]
    """
    answers = load_json(decode(raw, name), name, pairs=_Pairs)
    rows = Rows(name)
    for item, labels in _entries(answers, name, "item"):
        where = f"{name}, item {shown(item)}"
        for annotator, label in _entries(labels, where, "annotator"):
            spot = f"{where}, annotator {shown(annotator)}"
            if isinstance(label, list):
                check_one(label, spot)
            rows.add(item, annotator, label, spot)
    return rows.frame("the object is {item: {annotator: label}} with every item empty", True)


@dataclass(frozen=True)
class _Pairs:
    """A JSON object with every key it was written with: a dict would drop repeated ones."""

    pairs: list[tuple[str, Any]]


def _entries(value: Any, where: str, what: str) -> list[tuple[str, Any]]:
    if not isinstance(value, _Pairs):
        wrong(value, "an object", where)
    seen: set[str] = set()
    for key, _ in value.pairs:
        if key in seen:
            raise InputError(
                f"{where}: the {what} {shown(key)} appears twice; JSON keeps only one of them, "
                "so merge them or rename one"
            )
        seen.add(key)
    return value.pairs
