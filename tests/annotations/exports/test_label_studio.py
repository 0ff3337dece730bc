import json
from pathlib import Path

import polars as pl
import pytest

from crowdwise.annotations.exports.label_studio import parse
from crowdwise.errors import InputError

FILES = Path(__file__).parent / "files"


def export(*annotations: dict, **task) -> bytes:
    return json.dumps([{"id": 5, "annotations": list(annotations), **task}]).encode()


def annotation(*choices, who=1, **more) -> dict:
    result = [{"from_name": "mood", "type": "choices", "value": {"choices": list(choices)}}]
    return {"completed_by": who, "result": result, **more}


def test_reads_choices_gold_and_durations_and_skips_cancelled_and_empty():
    frame = parse((FILES / "label_studio.json").read_bytes(), "export.json")
    assert frame.rows(named=True) == [
        {"item": 101, "annotator": "7", "label": "bird", "gold": False, "seconds": 4.25},
        {"item": 101, "annotator": "bo@example.org", "label": "bird", "gold": True, "seconds": 11},
        {"item": 102, "annotator": "bo@example.org", "label": "fish", "gold": False}
        | {"seconds": None},
    ]
    assert frame.schema["item"] == pl.Int64


def test_a_person_met_as_id_and_as_object_is_one_annotator():
    raw = export(
        annotation("glad", who=8), annotation("sad", who={"id": 8, "email": "bo@example.org"})
    )
    assert parse(raw, "x")["annotator"].to_list() == ["bo@example.org"] * 2


def test_an_object_without_email_goes_by_its_id():
    assert parse(export(annotation("glad", who={"id": 8})), "x")["annotator"].to_list() == [8]


def test_models_join_as_annotators_when_asked():
    frame = parse((FILES / "label_studio.json").read_bytes(), "export.json", predictions=True)
    model = frame.filter(pl.col("annotator") == "net-2")
    assert model.rows() == [(101, "net-2", "fish", False, None)]


def test_a_model_without_version_is_called_model():
    raw = export(predictions=[annotation("glad", model_version=None)])
    assert parse(raw, "x", predictions=True)["annotator"].to_list() == ["model"]


def test_several_questions_are_listed_and_one_is_chosen():
    raw = (FILES / "label_studio_two_questions.json").read_bytes()
    with pytest.raises(InputError, match="set the option from_name to one of: mood, topics"):
        parse(raw, "two.json")
    with pytest.raises(InputError, match=r"no choices question 'colour'.*mood, topics"):
        parse(raw, "two.json", from_name="colour")
    assert parse(raw, "two.json", from_name="mood")["label"].to_list() == ["glad"]


def test_several_choices_in_one_annotation_name_task_and_annotation():
    raw = (FILES / "label_studio_two_questions.json").read_bytes()
    place = r"two.json, task 1, annotation 1: several labels in one answer \('sport', 'money'\)"
    with pytest.raises(InputError, match=place):
        parse(raw, "two.json", from_name="topics")


def test_choices_per_region_are_several_labels():
    twice = annotation("glad")
    twice["result"] *= 2
    with pytest.raises(InputError, match="task 5, annotation 1: several labels"):
        parse(export(twice), "x")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'[{"annotations": []}]', "record 1: the task has no id"),
        (b'[{"id": 5, "mood": "glad", "annotator": 1}]', r"task 5.*not JSON-MIN"),
        (b'[{"id": 5, "annotations": {}}]', "task 5: an object where a list"),
        (b'[{"id": 5, "annotations": [12]}]', "task 5, annotation 1: 12 where an object"),
        (b'[{"id": 5, "annotations": [{"result": 3}]}]', "annotation 1: 3 where a list"),
        (b"[7]", "record 1: 7 where an object"),
        (b"[]", "no labels found"),
        (export(annotation("glad", who=None)), "annotation 1: nothing .null. where the annotator"),
        (export(annotation("glad", lead_time="slow")), "annotation 1: the duration is 'slow'"),
        (export(annotation("glad", was_cancelled=True)), "no labels found"),
        (export(annotation(1.5)), "annotation 1: 1.5 where a label"),
        (export(annotation("glad"), annotation(2)), "annotation 2: the label 2 is a number"),
        (export(annotation("")), "annotation 1: the label is empty"),
        (export(annotation("\ud800")), "no text"),
        (export(annotation("a\0b")), "no text"),
    ],
)
def test_bad_exports_are_one_sentence_with_the_task(raw, message):
    with pytest.raises(InputError, match=message):
        parse(raw, "export.json")
