from pathlib import Path

import polars as pl
import pytest

from crowdwise.annotations.exports.wide import detect, parse
from crowdwise.errors import InputError

FILES = Path(__file__).parent / "files"


def test_reads_a_data_frame_with_index_and_numbers_that_turned_into_floats():
    frame = parse((FILES / "wide.csv").read_bytes(), "wide.csv")
    assert frame.rows() == [
        (0, "annotator_0", 1),
        (0, "annotator_2", 0),
        (1, "annotator_1", 0),
        (2, "annotator_0", 1),
        (2, "annotator_1", 1),
    ]
    assert frame.schema == {"item": pl.Int64, "annotator": pl.String, "label": pl.Int64}


def test_reads_tabs_and_an_id_column():
    frame = parse((FILES / "wide.tsv").read_bytes(), "wide.tsv")
    assert frame.rows() == [
        ("p1", "ann", "cat"),
        ("p2", "bob", "dog"),
        ("p3", "ann", "dog"),
        ("p3", "bob", "dog"),
    ]


def test_without_an_item_column_rows_are_numbered_from_zero():
    frame = parse(b"ann,bob\ncat,\n,cat\n", "x.csv")
    assert frame.rows() == [(0, "ann", "cat"), (1, "bob", "cat")]


def test_semicolons_as_spreadsheets_write_them():
    assert parse(b"id;ann;bob\r\np1;a,b;\r\n", "x.csv").rows() == [("p1", "ann", "a,b")]


@pytest.mark.parametrize("cell", ["", " ", "NaN", "nan", "-1", "-1.0"])
def test_missing_cells(cell):
    assert len(parse(f"id,a1,a2\np,{cell},2\n".encode(), "x")) == 1


def test_minus_one_is_a_label_when_other_markers_are_given():
    raw = b"id,a1,a2,a3\np,-1,1,NA\n"
    assert parse(raw, "x", missing="NA")["label"].to_list() == [-1, 1]


def test_named_columns_leave_the_others_out():
    raw = b"id,text,ann,bob,truth\np,hello,1,0,1\n"
    for given in ("ann,bob", ["ann", "bob"]):
        assert parse(raw, "x", annotators=given)["annotator"].to_list() == ["ann", "bob"]


def test_any_column_may_name_the_item():
    assert parse(b"ann,picture\n1,x.png\n", "x", item="picture").rows() == [("x.png", "ann", 1)]


def test_labels_with_leading_zeros_stay_text_and_booleans_are_booleans():
    assert parse(b"id,a1,a2\np,01,2\n", "x")["label"].to_list() == ["01", "2"]
    assert parse(b"id,a1,a2\np,True,false\n", "x")["label"].to_list() == [True, False]


@pytest.mark.parametrize(
    ("raw", "options", "message"),
    [
        (b"image,a1\nx,1\ny,1\n", {}, "'image' looks like ids.*option item to 'image'"),
        (b"id,a1,a1\np,1,2\n", {}, "line 1: the column 'a1' appears twice"),
        (b"id,a1,a2\np,1\n", {}, "line 2: 2 cells where the header has 3"),
        (b"id,a1,a2\n,1,2\n", {}, "line 2: the item is empty"),
        (b"id,,a2\np,1,2\n", {}, "line 1, column 2: the annotator is empty"),
        (b"id,a1,a2\np,,-1\n", {}, "no labels found; every cell is empty"),
        (b"id,a1,a2\n", {}, "no labels found"),
        (b"id\np\n", {}, "no labels found"),
        (b"id,a1\np,1\n", {"item": "key"}, "no column 'key'; it has id, a1"),
        (b"id,a1\np,1\n", {"annotators": "a1,a2"}, "no annotator column 'a2'; it has a1"),
        (b"id,a1\np,\xff\n", {}, r"line 2: not UTF-8 text \(byte 0xff\)"),
        (b"id,a1\np,\0\n", {}, "line 2: a NUL byte"),
        (b"", {}, "the file is empty"),
        (b"\xef\xbb\xbf", {}, "the file is empty"),
        (b"id,a1\np," + b"x" * 200_000, {}, "line 2: a row that cannot be read"),
    ],
)
def test_bad_tables_are_one_sentence_with_the_line(raw, options, message):
    with pytest.raises(InputError, match=message):
        parse(raw, "wide.csv", **options)


@pytest.mark.parametrize(
    ("raw", "wide"),
    [
        (b"id,a1,a2\np,1,2\n", True),
        (b"0,1,2\n1,,2\n", True),
        (b"id,annotator,label\np,ann,1\n", False),
        (b"image,person,verdict\n1,1,0\n", False),
        (b"id,ann,bob\np,1,0\n", False),  # may be anything: the user has to say so
        (b"id,a1,a2\n", False),
        (b"", False),
    ],
)
def test_only_numbered_annotators_are_taken_for_a_wide_table(raw, wide):
    assert detect(raw, "x.csv") is wide
