"""Truth files: ids and labels in the crowd's kind, and what is wrong with them."""

import json

import pytest

from crowdwise.annotations import Annotations, read_annotations, read_truth
from crowdwise.errors import InputError

NUMBERS = Annotations.from_triples([1, 1, 2, 3], ["a", "b", "a", "a"], [0, 1, 1, 0])
TEXTS = Annotations.from_triples(["1", "x"], ["a", "a"], ["0", "1"])
FLAGS = Annotations.from_triples([1, 2], ["a", "a"], [True, False])


def test_the_kind_is_the_crowds(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,truth\n1,0\n2,1\n7,1\n")
    assert read_truth(path) == {1: 0, 2: 1, 7: 1}
    assert read_truth(path, NUMBERS) == {1: 0, 2: 1}
    assert read_truth(path, TEXTS) == {"1": "0"}
    path.write_text("task,gold\n1,true\n2,false\n")
    assert read_truth(path, FLAGS) == {1: True, 2: False}


@pytest.mark.parametrize("header", ["task,label", "id,class", "item,gold_label", "question,truth"])
def test_usual_columns(tmp_path, header):
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n1,0\n")
    assert read_truth(path, NUMBERS) == {1: 0}


def test_a_crowd_table_with_a_gold_column_is_a_truth_file_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,worker,label,gold\n1,a,0,1\n1,b,1,1\n2,a,1,0\n")
    assert read_truth(path, NUMBERS) == {1: 1, 2: 0}


def test_named_columns(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "b": 0}\n{"a": 3, "b": 1}\n')
    assert read_truth(path, NUMBERS, item="a", label="b") == {1: 0, 3: 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,truth\n8,0\n9,1\n", r"none of its 2 items .such as 8. is in the crowd's table"),
        ("item,truth\n1,0\n2,5\n",
         r"item 2 is 5, which is not among the crowd's classes .integers: 0, 1"),
        ("item,truth\n1,cat\n", "item 1 is 'cat', which is not among"),
        ("item,truth\n1,true\n2,false\n", "item 1 is True, which is not among"),
        ("item,truth\n1,0\n2,1\n1,1\n", r"t.csv, line 4: item 1 is 1 here and 0 before .*line 2"),
        ("item,truth\n1,\n", r"line 2, column 'truth': the truth is empty"),
        ("item,what\n1,1\n", "no column looks like the truth .*; name it with --truth-label"),
        ("item,truth\n", "there is a header but no row"),
        ("", "the file is empty"),
    ],
)  # fmt: skip
def test_bad_truth_gets_one_sentence(tmp_path, content, message):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_truth(path, NUMBERS)


def label_studio(*gold: bool) -> str:
    """Three tasks; the answers of bob are ground truth where `gold` says so."""
    tasks = [
        {
            "id": task,
            "annotations": [
                {"completed_by": who, "ground_truth": who == "bob" and marked, "result": [result]}
                for who, said in (("ann", "cat"), ("bob", "dog"))
                for result in [
                    {"from_name": "animal", "type": "choices", "value": {"choices": [said]}}
                ]
            ],
        }
        for task, marked in enumerate(gold)
    ]
    return json.dumps(tasks)


def test_label_studios_ground_truth_is_a_truth(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(label_studio(True, False, True))
    crowd = read_annotations(path)
    assert read_truth(path, crowd) == {0: "dog", 2: "dog"}
    assert read_truth(path, crowd, label="animal") == {0: "dog", 2: "dog"}
    path.write_text(label_studio(False, False))
    with pytest.raises(InputError, match="no annotation is marked as ground truth"):
        read_truth(path, crowd)
