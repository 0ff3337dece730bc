import json
from pathlib import Path

import pytest

from crowdwise.annotations.exports.argilla import parse
from crowdwise.errors import InputError

FILES = Path(__file__).parent / "files"


def record(responses, users=("u1",), statuses=("submitted",), **more) -> bytes:
    flat = {
        "id": "r1",
        "mood.responses": responses,
        "mood.responses.users": users,
        "mood.responses.status": statuses,
    }
    return json.dumps([flat | more]).encode()


def test_only_submitted_responses_are_read():
    frame = parse((FILES / "argilla.json").read_bytes(), "export.json")
    assert frame.rows() == [("r1", "0b5f", "glad"), ("r1", "c3d1", "glad"), ("r2", "0b5f", "sad")]


def test_several_questions_are_listed_and_one_is_chosen():
    raw = (FILES / "argilla_two_questions.jsonl").read_bytes()
    with pytest.raises(InputError, match="set the option question to one of: mood, topics"):
        parse(raw, "two.jsonl")
    assert parse(raw, "two.jsonl", question="mood")["label"].to_list() == ["glad", "sad"]


def test_several_labels_in_one_response_name_line_and_user():
    raw = (FILES / "argilla_two_questions.jsonl").read_bytes()
    with pytest.raises(InputError, match=r"two.jsonl, line 1, user 'u1': several labels"):
        parse(raw, "two.jsonl", question="topics")


def test_a_list_of_one_label_is_that_label():
    assert parse(record([["glad"]]), "x")["label"].to_list() == ["glad"]


def test_a_submitted_record_may_leave_a_question_open():
    raw = record([None, "sad"], users=["u1", "u2"], statuses=["submitted", "submitted"])
    assert parse(raw, "x").rows() == [("r1", "u2", "sad")]


def test_ratings_are_numbers():
    assert parse(record([4]), "x")["label"].to_list() == [4]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (record(["glad"], users=None), "record 1: 'mood.responses.users' is missing"),
        (record(["glad"], statuses=None), "record 1: 'mood.responses.status' is missing"),
        (record(["glad", "sad"]), "2 responses, 1 users and 1 statuses"),
        (record("glad"), "record 1: 'glad' where a list"),
        (record([{"start": 1}]), "user 'u1': an object where a label"),
        (record(["glad"], users=[None]), "nothing .null. where the annotator"),
        (record(["glad"], statuses=["draft"]), "nobody submitted a response to the question"),
        (record(["glad"], id=None), "nothing .null. where the item"),
        (record(["glad"]).replace(b'"id"', b'"_id"'), "record 1: the record has no id"),
        (b'[{"id": "r1", "responses": {"mood": []}}]', "flatten=True"),
        (b'[{"id": "r1", "text": "x"}]', "no question found"),
    ],
)
def test_bad_exports_are_one_sentence_with_the_record(raw, message):
    with pytest.raises(InputError, match=message):
        parse(raw, "export.json")
