from pathlib import Path

import pytest

from crowdwise.annotations.exports.one_hot import parse
from crowdwise.errors import InputError

FILES = Path(__file__).parent / "files"
ONE = (FILES / "one_hot.csv").read_bytes()
SEVERAL = (FILES / "one_hot_several.csv").read_bytes()


def test_reads_one_label_per_answer_and_skips_answers_without():
    assert parse(ONE, "emotions.csv").rows() == [
        ("eew5j0j", 1, "joy"),
        ("eew5j0j", 37, "anger"),
        ("ed2mah1", 37, "fear"),
    ]


def test_several_labels_stop_and_name_the_first_row():
    place = r"several.csv, line 3: several labels in one answer \(anger, joy\).*option single"
    with pytest.raises(InputError, match=place):
        parse(SEVERAL, "several.csv")


def test_answers_with_one_label_are_read_when_asked():
    assert parse(SEVERAL, "x", single=True).rows() == [("a", 1, "joy"), ("b", 2, "fear")]


def test_named_classes_are_the_only_ones_read():
    assert parse(SEVERAL, "x", classes="anger,fear").rows() == [("a", 2, "anger"), ("b", 2, "fear")]


def test_a_single_label_that_is_the_same_everywhere_still_counts():
    assert parse(b"key,who,a,b\nx,1,1,0\n", "x", item="key", annotator="who").rows() == [
        ("x", 1, "a")
    ]


@pytest.mark.parametrize(
    ("raw", "options", "message"),
    [
        (b"key,rater_id,a\nx,1,1\n", {}, "no column names the item; set the option item"),
        (b"id,who,a\nx,1,1\n", {}, "no column names the annotator; set the option annotator"),
        (SEVERAL, {"item": "key"}, "no column 'key'"),
        (SEVERAL, {"classes": "anger,hope"}, "no column 'hope'"),
        (SEVERAL, {"classes": "text,anger"}, "line 2: 'x' in the class column 'text'"),
        (b"id,rater_id,a\nx,1,yes\n", {}, "no column holds only 0 and 1"),
        (b"id,rater_id,a,b\nx,1,0,0\n", {}, "no labels found; no answer has exactly one"),
        (b"id,rater_id,a,b\nx,,0,1\n", {}, "line 2: the annotator is empty"),
    ],
)
def test_bad_tables_are_one_sentence_with_the_line(raw, options, message):
    with pytest.raises(InputError, match=message):
        parse(raw, "emotions.csv", **options)
