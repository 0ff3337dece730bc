from pathlib import Path

import pytest

from crowdwise.annotations.exports.nested import detect, parse
from crowdwise.errors import InputError

FILES = Path(__file__).parent / "files"


def test_ids_that_are_integers_in_quotes_become_integers():
    frame = parse((FILES / "nested.json").read_bytes(), "answers.json")
    assert frame.rows() == [(0, 12, 1), (0, 7, 0), (1, 12, 1), (10, 3, 2)]


def test_other_ids_stay_text_and_labels_stay_what_they_are():
    frame = parse(b'{"01": {"7": "1"}, "2": {"8": "0"}}', "x")
    assert frame.rows() == [("01", 7, "1"), ("2", 8, "0")]


def test_ids_and_labels_longer_than_64_bits_become_text():
    frame = parse(b'{"99999999999999999999": {"1": 99999999999999999999, "2": 1}}', "x")
    long = "99999999999999999999"
    assert frame.rows() == [(long, 1, long), (long, 2, "1")]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"p": {"a": 1}, "p": {"b": 1}}', "answers.json: the item 'p' appears twice"),
        (b'{"p": {"a": 1, "a": 2}}', "item 'p': the annotator 'a' appears twice"),
        (b'{"p": {"a": [1, 2]}}', r"item 'p', annotator 'a': several labels.*\(1, 2\)"),
        (b'{"p": {"a": {"b": 1, "c": 2}}}', "annotator 'a': an object where a label"),
        (b'{"p": {"a": null}}', "annotator 'a': nothing .null. where a label"),
        (b'{"p": {"a": NaN}}', "annotator 'a': nan where a label"),
        (b'{"p": {"a": 1, "b": true}}', "annotator 'b': the label true is true or false"),
        (b'{"p": {"": 1}}', "the annotator is empty"),
        (b'{"p": 1}', "item 'p': 1 where an object"),
        (b'{"p": {}}', "no labels found"),
        (b"{}", "no labels found"),
        (b"[]", "answers.json: a list where an object"),
        (b'{"p": {"a": 1}', "line 1, column 15: broken JSON"),
        (b'{"p":\n {"a": 1},\n}', "line 3, column 1: broken JSON"),
        (b'{"p": {"a": 1}} x', "line 1, column 17: broken JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"p": {"a": ' * 50_000, "nested too deeply"),
        (b'{"p": {"a": ' + b"9" * 5_000 + b"}}", "too many digits"),
        (b'{"p": {"a": "\\ud800"}}', "no text"),
        (b'{"p": {"a\\u0000": 1}}', "no text"),
        ('{"p": {"a": 1}}'.encode("utf-16"), "line 1: not UTF-8"),
    ],
)
def test_bad_objects_are_one_sentence_with_the_item(raw, message):
    with pytest.raises(InputError, match=message):
        parse(raw, "answers.json")


@pytest.mark.parametrize(
    ("raw", "nested"),
    [
        (b'{"0": {"1": "cat"}}', True),
        (b'\xef\xbb\xbf{"a": {"b": true, "c": false}, "d": {', True),
        (b'{"meta": {"source": "x"}, "label": 3}', False),
        (b'{"meta": {"source": "x"}}\n{"meta": {"source": "y"}}\n', False),
        (b'{"0": {"1": [1]}}', False),
        (b"", False),
    ],
)
def test_detection(raw, nested):
    assert detect(raw, "x.json") is nested
