import json
from pathlib import Path

import pytest

from crowdwise.annotations.exports.prodigy import parse
from crowdwise.errors import InputError

FILES = Path(__file__).parent / "files"


def task(**more) -> bytes:
    usual = {"_input_hash": 5, "_annotator_id": "ann", "answer": "accept"}
    return json.dumps(usual | more).encode() + b"\n"


def test_choices_are_read_ignored_rejected_and_empty_ones_are_not():
    frame = parse((FILES / "prodigy_choice.jsonl").read_bytes(), "pets.jsonl")
    assert frame.rows() == [
        (-1208, "pets-ann", "CAT"),
        (-1208, "pets-bob", "DOG"),  # this row has a _session_id only
        (905, "pets-bob", "DOG"),
    ]


def test_a_rejected_choice_is_no_label_even_with_an_option_ticked():
    raw = task(accept=["cat"], answer="reject") + task(accept=["dog"])
    assert parse(raw, "x")["label"].to_list() == ["dog"]


def test_reject_in_a_yes_no_task_is_the_other_label():
    frame = parse((FILES / "prodigy_binary.jsonl").read_bytes(), "spam.jsonl")
    assert frame.rows() == [(1, "ann", "SPAM"), (1, "bob", "not SPAM"), (3, "bob", "not SPAM")]


def test_yes_no_tasks_about_several_labels_need_one_named():
    raw = task(label="SPAM") + task(label="RUDE", answer="reject")
    with pytest.raises(InputError, match="set the option label to one of: RUDE, SPAM"):
        parse(raw, "x.jsonl")
    assert parse(raw, "x.jsonl", label="RUDE")["label"].to_list() == ["not RUDE"]


def test_the_annotator_id_goes_before_the_session():
    raw = task(accept=["a"], _session_id="s") + task(
        accept=["a"], _annotator_id=None, _session_id="s"
    )
    assert parse(raw, "x")["annotator"].to_list() == ["ann", "s"]


def test_line_separators_inside_strings_do_not_split_lines():
    raw = '{"text": "a\u2028b", "_input_hash": 5, "_annotator_id": "ann", "answer": "accept", '
    raw += '"accept": ["cat\u2028"]}\n\n'
    assert parse(raw.encode(), "x")["label"].to_list() == ["cat\u2028"]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (task(accept=["a", "b"]), r"line 1: several labels in one answer \('a', 'b'\)"),
        (task(accept=["a"], answer="maybe"), "line 1: answer is 'maybe'"),
        (task(accept=["a"], answer=["accept"]), "line 1: answer is a list"),
        (task(accept="a"), "line 1: 'a' where a list"),
        (task(label=3), "line 1: the label is 3, not text"),
        (task(spans=[]), "line 1: neither accept nor label"),
        (task(accept=["a"], _annotator_id=None), "line 1: neither _annotator_id nor _session_id"),
        (task(accept=["a"], _input_hash=[]), "line 1: a list where the item"),
        (task(accept=["a"]).replace(b"_input", b"_in"), "line 1: no _input_hash"),
        (task(accept=["a"]) + b"\n" + task(label="b"), "line 3: a yes/no task.*line 1"),
        (task(accept=["a"]) + b'{"_input_hash": \n', "line 2, column 17: broken JSON"),
        (task(accept=["a"]) + b"5\n", "line 2: 5 where an object"),
        (task(accept=["a"], answer="ignore"), "no labels found; every task was ignored"),
    ],
)
def test_bad_exports_are_one_sentence_with_the_line(raw, message):
    with pytest.raises(InputError, match=message):
        parse(raw, "export.jsonl")
