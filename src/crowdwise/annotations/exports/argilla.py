"""Argilla's records, flattened: parallel lists of users, responses and statuses."""

import re
from typing import Any

import polars as pl

from crowdwise.annotations.exports.rows import Rows, check_one, choose
from crowdwise.annotations.exports.source import HEAD, as_list, records, shown
from crowdwise.errors import InputError

_KEY = ".responses"


def detect(raw: bytes, name: str) -> bool:
    head = raw[:HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    return head[:1] in (b"[", b"{") and re.search(rb'\.responses\.users"\s*:', head) is not None


def parse(raw: bytes, name: str, *, question: str | None = None) -> pl.DataFrame:
    """Read the submitted responses to one question; drafts and discarded ones are skipped.

    Args:
        question: which question to read; needed when there are several.

    Example:
        >>> export = b'''[{"id": "a1", "mood.responses": ["glad", "sad"],
        ...     "mood.responses.users": ["u1", "u2"],
        ...     "mood.responses.status": ["submitted", "draft"]}]'''
        >>> parse(export, "export.json").rows()
        [('a1', 'u1', 'glad')]
    """
    found = list(records(raw, name))
    keys = {key for _, record in found for key in record if key.endswith(_KEY)}
    questions = sorted(key.removesuffix(_KEY) for key in keys)
    if not questions and any("responses" in record for _, record in found):
        raise InputError(
            f"{name}: the responses are nested, without their status; "
            "write records.to_list(flatten=True) as JSON instead"
        )
    chosen = choose(questions, question, "question", "question", name)
    rows = Rows(name)
    for where, record in found:
        for user, response, status in _responses(record, chosen + _KEY, where):
            if status == "submitted" and response is not None:
                labels = response if isinstance(response, list) else [response]
                check_one(labels, f"{where}, user {shown(user)}")
                for label in labels:
                    rows.add(_item(record, where), user, label, f"{where}, user {shown(user)}")
    return rows.frame(f"nobody submitted a response to the question {chosen!r}")


def _responses(record: dict[str, Any], key: str, where: str) -> list[tuple[Any, Any, Any]]:
    if record.get(key) is None:
        return []
    lists = [as_list(record[key], where)]
    for part in (f"{key}.users", f"{key}.status"):
        if record.get(part) is None:
            raise InputError(
                f"{where}: {part!r} is missing; export with records.to_list(flatten=True), "
                "which writes users and status beside the responses"
            )
        lists.append(as_list(record[part], where))
    responses, users, statuses = lists
    if not len(responses) == len(users) == len(statuses):
        raise InputError(
            f"{where}: {len(responses)} responses, {len(users)} users and {len(statuses)} "
            f"statuses under {key!r} should be equally many; export the file again"
        )
    return list(zip(users, responses, statuses, strict=True))


def _item(record: dict[str, Any], where: str) -> Any:
    if "id" not in record:
        raise InputError(f"{where}: the record has no id; export it with its id")
    return record["id"]
