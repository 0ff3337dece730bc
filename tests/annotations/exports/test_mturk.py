from pathlib import Path

import pytest

from crowdwise.annotations.exports.mturk import parse
from crowdwise.errors import InputError

FILES = Path(__file__).parent / "files"
BATCH = (FILES / "mturk.csv").read_bytes()
TWO = (FILES / "mturk_two_answers.csv").read_bytes()


def test_reads_answers_and_durations_and_skips_empty_answers():
    assert parse(BATCH, "batch.csv").rows() == [
        ("3AXE", "W1", "cat", 12.0),
        ("3AXE", "W2", "dog", 2.0),
        ("3BYF", "W1", "dog", None),
    ]


def test_rejected_assignments_go_only_when_asked():
    frame = parse(BATCH, "batch.csv", drop_rejected=True)
    assert frame["annotator"].to_list() == ["W1", "W1"]


def test_another_column_may_name_the_item():
    frame = parse(BATCH, "batch.csv", item="Input.image_url")
    assert frame["item"][0] == "https://example.org/1.jpg"


def test_several_answer_columns_are_listed_and_one_is_chosen():
    with pytest.raises(InputError, match=r"answer to one of: Answer.animal, Answer.colours"):
        parse(TWO, "two.csv")
    for answer in ("animal", "Answer.animal"):
        assert parse(TWO, "two.csv", answer=answer)["label"].to_list() == ["cat", "cat"]


def test_ticked_boxes_joined_by_a_bar_are_several_labels():
    with pytest.raises(InputError, match=r"two.csv, line 2: several labels.*'grey', 'white'"):
        parse(TWO, "two.csv", answer="colours")


def test_numbers_and_booleans_are_read_as_such():
    def labels(*cells: str) -> list:
        rows = "".join(f"H{at},W,{cell}\n" for at, cell in enumerate(cells))
        return parse(f"HITId,WorkerId,Answer.x\n{rows}".encode(), "x")["label"].to_list()

    assert labels("1", "2") == [1, 2]
    assert labels("true", "false") == [True, False]
    assert labels("01", "2") == ["01", "2"]


@pytest.mark.parametrize(
    ("raw", "options", "message"),
    [
        (b"HITId,WorkerId\nH,W\n", {}, "no answer column found"),
        (TWO, {"answer": "shape"}, "no answer column 'Answer.shape'.*Answer.animal"),
        (TWO.replace(b"WorkerId", b"Worker"), {"answer": "animal"}, "'WorkerId' is missing"),
        (TWO, {"answer": "animal", "drop_rejected": True}, "'AssignmentStatus' is missing"),
        (TWO, {"answer": "animal", "item": "Input.x"}, "'Input.x' is missing"),
        (TWO + b"H2,W3\n", {"answer": "animal"}, "line 4: 2 cells where the header has 4"),
        (TWO + b",W3,cat,x\n", {"answer": "animal"}, "line 4: the item is empty"),
        (TWO + b'H2,W3,"cat,x\n', {"answer": "animal"}, "line 4: a row that cannot be read"),
        (b"HITId,WorkerId,Answer.x\n", {}, "no labels found"),
        (b"HITId,WorkerId,Answer.x,Answer.x\n", {}, "'Answer.x' appears twice"),
    ],
)
def test_bad_batches_are_one_sentence_with_the_line(raw, options, message):
    with pytest.raises(InputError, match=message):
        parse(raw, "batch.csv", **options)


def test_lines_are_counted_through_cells_with_line_breaks():
    with pytest.raises(InputError, match=r"batch.csv, line 10: 1 cells"):
        parse(BATCH + b"H9\n", "batch.csv")
