"""Prodigy's JSON lines: a choice among options, or yes and no to one label."""

from typing import Any

import polars as pl

from crowdwise.annotations.exports.rows import Rows, check_one, choose
from crowdwise.annotations.exports.source import HEAD, as_list, records, shown
from crowdwise.errors import InputError


def detect(raw: bytes, name: str) -> bool:
    head = raw[:HEAD]
    starts = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return starts in (b"{", b"[") and b'"_input_hash"' in head and b'"answer"' in head


def parse(raw: bytes, name: str, *, label: str | None = None) -> pl.DataFrame:
    """Read what was accepted; ignored tasks are skipped.

    In a choice task the accepted option is the label, and a rejected task is skipped: it says
    that the task was bad, not which option is right. In a yes/no task about `label`, accept
    gives that label and reject gives `not <label>`.

    Args:
        label: in yes/no tasks, the label asked about; needed when there are several.

    Example:
        >>> export = b'''{"_input_hash": 5, "accept": ["cat"], "answer": "accept",
        ...     "_annotator_id": "ann"}'''
        >>> parse(export, "export.jsonl").rows()
        [(5, 'ann', 'cat')]
    """
    tasks = [(where, task) for where, task in records(raw, name) if _answer(task, where)]
    kinds = {kind: where for where, task in reversed(tasks) for kind in [_kind(task, where)]}
    if len(kinds) > 1:
        raise InputError(
            f"{kinds['label']}: a yes/no task in a file of choice tasks (such as "
            f"{kinds['accept']}); export one kind of task at a time"
        )
    if "label" in kinds:
        return _yes_or_no(tasks, name, label)
    rows = Rows(name)
    for where, task in tasks:
        options = as_list(task["accept"], where)
        if task["answer"] == "accept" and options:
            check_one(options, where)
            rows.add(_item(task, where), _annotator(task, where), options[0], where)
    return rows.frame("every task was ignored, rejected or left without a choice")


def _yes_or_no(
    tasks: list[tuple[str, dict[str, Any]]], name: str, label: str | None
) -> pl.DataFrame:
    for where, task in tasks:
        if not isinstance(task["label"], str):
            raise InputError(
                f"{where}: the label is {shown(task['label'])}, not text; export the file again"
            )
    about = choose(sorted({task["label"] for _, task in tasks}), label, "label", "label", name)
    rows = Rows(name)
    for where, task in tasks:
        if task["label"] == about:
            said = about if task["answer"] == "accept" else f"not {about}"
            rows.add(_item(task, where), _annotator(task, where), said, where)
    return rows.frame("every task was ignored")


def _answer(task: dict[str, Any], where: str) -> bool:
    """Whether the task was answered; `ignore` means that it was not."""
    answer = task.get("answer")
    if answer not in ("accept", "reject", "ignore"):
        raise InputError(
            f"{where}: answer is {shown(answer)}, not accept, reject or ignore; "
            "export the data set with Prodigy's db-out"
        )
    return bool(answer != "ignore")


def _kind(task: dict[str, Any], where: str) -> str:
    for kind in ("accept", "label"):
        if kind in task:
            return kind
    raise InputError(
        f"{where}: neither accept nor label; only choice and yes/no tasks about whole items can "
        "be read (no spans, no boxes)"
    )


def _item(task: dict[str, Any], where: str) -> Any:
    if "_input_hash" not in task:
        raise InputError(f"{where}: no _input_hash; export the data set with Prodigy's db-out")
    return task["_input_hash"]


def _annotator(task: dict[str, Any], where: str) -> Any:
    for key in ("_annotator_id", "_session_id"):
        if task.get(key) is not None:
            return task[key]
    raise InputError(
        f"{where}: neither _annotator_id nor _session_id says who answered; add one of them"
    )
