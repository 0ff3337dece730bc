"""Label Studio's JSON export: tasks with annotations, and predictions if asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from crowdwise.annotations.exports.rows import Rows, check_one, choose, duration
from crowdwise.annotations.exports.source import HEAD, as_list, as_object, records, shown
from crowdwise.errors import InputError


@dataclass(frozen=True)
class Answer:
    """What one annotator, or one model, chose in one task: question -> choices."""

    task: Any
    who: Any
    choices: dict[str, list[Any]]
    gold: bool
    seconds: float | None
    where: str


def detect(raw: bytes, name: str) -> bool:
    head = raw[:HEAD]
    return (
        head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{")
        and b'"annotations"' in head
        and (b'"completed_by"' in head or b'"was_cancelled"' in head)
    )


def parse(
    raw: bytes, name: str, *, from_name: str | None = None, predictions: bool = False
) -> pl.DataFrame:
    """Read the choices made in Label Studio; cancelled annotations are skipped.

    Args:
        from_name: which control's choices to read; needed when there are several.
        predictions: let models join as annotators, each named by its model_version.

    Example:
        >>> export = b'''[{"id": 7, "annotations": [{"completed_by": 3, "result": [
        ...     {"from_name": "mood", "type": "choices", "value": {"choices": ["glad"]}}]}]}]'''
        >>> parse(export, "export.json").rows()
        [(7, 3, 'glad', False, None)]
    """
    answers = list(_answers(raw, name, predictions))
    questions = sorted({question for answer in answers for question in answer.choices})
    if not questions:
        raise InputError(
            f"{name}: no labels found; only choices are read, and every annotation here was "
            "cancelled, empty or of another kind"
        )
    question = choose(questions, from_name, "choices question", "from_name", name)
    emails = _emails(answers)
    rows = Rows(name)
    for answer in answers:
        choices = answer.choices.get(question, [])
        check_one(choices, answer.where)
        if choices:
            who = answer.who
            if isinstance(who, dict):
                who = who.get("email") or who.get("id")
            elif isinstance(who, int):
                who = emails.get(who, who)
            extra = {"gold": answer.gold, "seconds": answer.seconds}
            rows.add(answer.task, who, choices[0], answer.where, **extra)
    return rows.frame("every annotation was left empty")


def _answers(raw: bytes, name: str, predictions: bool) -> Iterator[Answer]:
    for place, task in records(raw, name):
        if "id" not in task:
            raise InputError(f"{place}: the task has no id; export it from Label Studio as JSON")
        where = f"{name}, task {shown(task['id'])}"
        if "annotations" not in task:
            raise InputError(
                f"{where}: no list of annotations; export it from Label Studio as JSON "
                "(not JSON-MIN)"
            )
        for number, value in enumerate(as_list(task["annotations"], where), start=1):
            spot = f"{where}, annotation {number}"
            annotation = as_object(value, spot)
            if not annotation.get("was_cancelled"):
                choices, who = _choices(annotation, spot), annotation.get("completed_by")
                gold = annotation.get("ground_truth") is True
                seconds = duration(annotation.get("lead_time"), spot)
                yield Answer(task["id"], who, choices, gold, seconds, spot)
        if predictions:
            for number, value in enumerate(as_list(task.get("predictions", []), where), start=1):
                spot = f"{where}, prediction {number}"
                prediction = as_object(value, spot)
                choices, who = _choices(prediction, spot), prediction.get("model_version")
                yield Answer(task["id"], who or "model", choices, False, None, spot)


def _choices(annotation: dict[str, Any], where: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for entry in as_list(annotation.get("result", []), where):
        result = as_object(entry, where)
        value = result.get("value")
        if not isinstance(value, dict) or "choices" not in value:
            continue  # rectangles, text areas, relations
        question = result.get("from_name")
        if not isinstance(question, str):
            raise InputError(
                f"{where}: from_name is {shown(question)}, not a name; export the file again"
            )
        # One result per region if choices are asked per region: they add up to several labels.
        found.setdefault(question, []).extend(as_list(value["choices"], where))
    return found


def _emails(answers: list[Answer]) -> dict[int, str]:
    """A person may be a bare id in one annotation and id with email in another: one name."""
    people = (answer.who for answer in answers if isinstance(answer.who, dict))
    return {
        person["id"]: person["email"]
        for person in people
        if isinstance(person.get("id"), int) and isinstance(person.get("email"), str)
    }
