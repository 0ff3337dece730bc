"""Bad tables: one clear sentence with file, line and value; never a traceback."""

import gzip
import io
import json
import os
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowdwise.annotations import Annotations, read_annotations, read_truth
from crowdwise.errors import InputError

HEAD = "item,worker,label\n"
ROWS = HEAD + "1,ann,yes\n2,bob,no\n"
PARQUET = io.BytesIO()
pl.DataFrame({"item": [1, 2], "user": ["a", "b"], "label": ["x", "y"]}).write_parquet(PARQUET)
PARQUET_BYTES = PARQUET.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "t.csv: the file is empty"),
        ("t.csv", b" \n\n", "t.csv: the file is empty"),
        ("t.csv", gzip.compress(b""), "t.csv: the file is empty"),
        ("t.csv", HEAD, "t.csv: there is a header but no row"),
        ("t.csv", HEAD.strip(), "t.csv: there is a header but no row"),
        ("t.csv", HEAD + "\n\n", "t.csv: there is a header but no row"),
        ("t.csv", "item,worker,x\n1,a,b\n", r"no column looks like the label \(columns found: "
         r"'item', 'worker', 'x'\); name it with --label COLUMN"),
        ("t.csv", "item,task,worker,label\n1,1,a,b\n", "'item', 'task' could each be the item; "
         "choose with --item COLUMN"),
        ("t.csv", "item,worker,label,label\n1,1,a,b\n", "'label', 'label' could each be the label"),
        ("t.csv", ROWS + "3,ann\n", r"t.csv, line 4: 2 cells \(3, ann\) where the header has 3"),
        ("t.csv", ROWS + "3,ann,no,oh\n4,ann,no\n", "t.csv, line 4: 4 cells .* the header has 3"),
        ("t.csv", "item,worker,label,note\n1,ann,yes,\n1,bob,no\n", "t.csv, line 3: 3 cells"),
        ("t.csv", "item,worker,label,note\n1,ann,yes,\n1,bob,no,a,b\n", "t.csv, line 3: 5 cells"),
        ("t.csv", "note,item,worker,label\n\"a\nb\",1,ann,yes\n\n,1,,no\n",
         r"t.csv, line 5, column 'worker': the annotator is empty"),
        ("t.csv", ROWS.encode() + b"3,\xe9t\xe9,no\n", "t.csv, line 4: not UTF-8 text .byte 0xe9"),
        ("t.csv", b"it\xe9m,worker,label\n1,a,b\n", "t.csv, line 1: the header is not UTF-8"),
        ("t.csv", ROWS.encode("utf-16"), "t.csv: this is UTF-16 text; save it as UTF-8"),
        ("t.csv", ROWS.encode("utf-16-le"), "t.csv, line 1: a NUL byte"),
        ("t.csv", ROWS + "3,a\0b,no\n",
         r"line 4, column 'worker': the annotator 'a.x00b' holds a NUL"),
        ("t.csv", ROWS + ",ann,no\n", r"line 4, column 'item': the item is empty"),
        ("t.csv", ROWS + "3,,no\n", r"line 4, column 'worker': the annotator is empty"),
        ("t.csv", ROWS + "3,ann,\n", r"line 4, column 'label': the label is empty"),
        ("t.csv", ROWS + '3,ann,""\n', r"line 4, column 'label': the label is empty"),
        ("t.csv", ROWS + "3, \t,no\n", r"line 4, column 'worker': the annotator is blank"),
        ("t.csv", ROWS + "\u2003\x1f,ann,no\n", r"line 4, column 'item': the item is blank"),
        ("t.csv", "id,ann,bob\n1,yes,no\n", "or, where each annotator has a column, .* wide"),
        ("t.csv", ROWS + ",,\n", r"line 4, column 'item': the item is empty"),
        ("t.csv", ROWS + "3,ann,NaN\n", r"line 4, column 'label': the label is NaN"),
        ("t.csv", ROWS + "3,nan,no\n", r"line 4, column 'worker': the annotator is NaN"),
        ("t.csv", ROWS + '3,ann,"no\n4,ann,no\n', "line 4: quotes or line ends do not match"),
        ("t.csv", ROWS.replace("\n", "\r"), "line 1: lines end in a bare carriage return"),
        ("t.csv", '"item,worker,label\n1,a,b\n', "line 1: the header's quotes do not match"),
        ("t.csv", HEAD + "1,ann,yes\n2,bob,yes\n", "t.csv: every label is 'yes'; .* two classes"),
        ("t.csv", HEAD + "".join(f"1,ann{i},x{i}\n" for i in range(1500)),
         "t.csv: 1500 classes in 1500 labels .x0, x1, .*; .*--label COLUMN"),
        ("t.csv", b"PK\x03\x04....", "t.csv: this is a zip archive or an Excel workbook"),
        ("t.csv.gz", gzip.compress(ROWS.encode() * 50)[:-12], "gzip file ends too early"),
        ("t.csv.gz", gzip.compress(ROWS.encode())[:10] + b"garbage!" * 5, "gzip file is damaged"),
        ("t.parquet", b"PAR1 and then nothing PAR1", "t.parquet: not a readable Parquet file"),
        ("t.parquet", PARQUET_BYTES[:-20], "t.parquet: not a readable Parquet file"),
        ("t.parquet", ROWS, "t.parquet: not a readable Parquet file"),
        ("t.jsonl", '{"item": 1, "user": 1, "label": 0}\n{"item": 2,\n',
         "line 2, column .* not JSON"),
        ("t.jsonl", '{"item": 1, "user": 1, "label": 0}\n[1]\n', r"line 2: \[1\] where an object"),
        ("t.jsonl", '{"item": 1, "user": 1, "label": 0}\n{"item": 2, "user": 1}\n',
         "line 2: there is no label .'label'."),
        ("t.jsonl", '{"item": 1, "user": 1, "label": 0}\n{"item": 2, "user": 1, "label": "a"}\n',
         "line 2: the label 'a' is text, the rows before have an integer; write the whole"),
        ("t.jsonl", '{"item": 1, "user": 1, "label": 0}\n{"item": 2, "user": 1, "label": true}\n',
         "line 2: the label True is a boolean, the rows before"),
        ("t.jsonl", '{"item": 1, "user": 1, "label": NaN}\n', "line 1: the label is missing"),
        ("t.jsonl", '{"item": 1, "user": null, "label": 1}\n', "line 1: the annotator is missing"),
        ("t.jsonl", '{"item": 1, "user": "", "label": 1}\n', "line 1: the annotator is empty"),
        ("t.jsonl", '{"item": 1, "user": "\\n", "label": 1}\n', "line 1: the annotator is blank"),
        ("t.jsonl", '{"item": 1, "user": "a", "label": ["x"]}\n', r"line 1: the label \['x'\] sho"),
        ("t.jsonl", '{"item": 1, "user": "\\ud800", "label": 1}\n',
         "line 1: .*half of a character"),
        ("t.jsonl", '{"item": 1, "user": "\\u0000", "label": 1}\n', "line 1: .*NUL byte"),
        ("t.jsonl", b'{"item": 1, "user": 1, "label": 1}\n{"item": "\xff"}', "line 2: not UTF-8"),
        ("t.jsonl", '{"item": %s, "user": 1, "label": 1}\n' % ("9" * 5000), "line 1: JSON beyond"),
        ("t.jsonl", "[" * 100_000, "JSON beyond reason"),
        ("t.json", "[]", "there are no records"),
        ("t.json", '[{"item": 1, "user": 1, "label": 1}, 7]', "record 2: 7 where an object"),
        ("t.json", '[{"item": 1, "user": 1, "label": 1},\n {"item": 1', "line 2: not JSON"),
    ],
)  # fmt: skip
def test_bad_files_get_one_sentence(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError, match=message) as error:
        read_annotations(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([1, None], "t.parquet, row 2: the label is missing"),
        ([1.5, 1.0], "t.parquet, row 1: the label 1.5 should be"),
        (["a", ""], "t.parquet, row 2: the label is empty"),
        (["a", " "], "t.parquet, row 2: the label is blank"),
        ([[1], [2]], "t.parquet, row 1: the label .* should be"),
    ],
)
def test_bad_values_in_parquet(tmp_path, label, message):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"item": [1, 2], "user": ["a", "b"], "label": label}).write_parquet(path)
    with pytest.raises(InputError, match=message):
        read_annotations(path)


def test_parquet_without_rows(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"item": [], "user": [], "label": []}).write_parquet(path)
    with pytest.raises(InputError, match="the table has columns but no row"):
        read_annotations(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match=r"none.csv: no such file; check the name"):
        read_annotations(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"^[^:]*: this is a folder; give the table's file$"):
        read_annotations(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_annotations("a\0b.csv")
    (tmp_path / "file").write_text(ROWS)
    with pytest.raises(InputError, match=r"cannot be read .*Not a directory"):
        read_annotations(tmp_path / "file" / "t.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_one_may_not_read(tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    (tmp_path / "t.csv").chmod(0)
    with pytest.raises(InputError, match=r"cannot be read .*Permission"):
        read_annotations(tmp_path / "t.csv")


def test_options_that_do_not_fit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    with pytest.raises(InputError, match="no column is named 'who' for the annotator; columns fou"):
        read_annotations(path, annotator="who")
    with pytest.raises(InputError, match="'item' is taken for the item and for the label"):
        read_annotations(path, label="item", item="item")
    with pytest.raises(InputError, match=r"line 2: the label yes is not among the classes given"):
        read_annotations(path, classes=["no", "maybe"])


def test_one_class_is_enough_when_the_others_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "1,ann,yes\n")
    assert read_annotations(path, classes=["no", "yes"]).classes.tolist() == ["no", "yes"]


def attempt(path) -> None:
    """Whatever is in the file, reading ends in a crowd or in one sentence."""
    for read, kind in ((read_annotations, Annotations), (read_truth, dict)):
        try:
            assert isinstance(read(path), kind)
        except InputError as error:
            assert str(error)  # noqa: PT017


fragments = st.lists(
    st.sampled_from([b"item,worker,label", b"\n", b"\r\n", b",", b'"', b"1,a,x\n", b"2,b,y\n",
                     b"\0", b"\xff", b"\xef\xbb\xbf", b"NaN", b'{"item": 1, "worker": 2, ', b"}",
                     b'"label": "a"}\n', b"[", b"]",
                     b"null", b"PAR1", b"\x1f\x8b", b";", b" ", b"\t"]),
    max_size=14,
).map(b"".join)  # fmt: skip


@given(st.one_of(st.binary(max_size=200), fragments, fragments.map(lambda b: ROWS.encode() + b)),
       st.sampled_from(["t.csv", "t.tsv", "t.jsonl", "t.json", "t", "t.csv.gz"]))  # fmt: skip
@settings(max_examples=400, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@example(b"item,worker,label\n1,ann,yes,", "t.csv")
@example(b"\n\n,\n", "t.csv")
def test_arbitrary_bytes_never_end_in_a_traceback(tmp_path, raw, name):
    path = tmp_path / name
    path.write_bytes(raw)
    attempt(path)
    path.write_bytes(gzip.compress(raw))
    attempt(path)


@given(st.integers(0, len(PARQUET_BYTES) - 1), st.integers(0, 255), st.booleans())
@settings(max_examples=200, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
def test_broken_parquet_never_ends_in_a_traceback(tmp_path, position, byte, cut):
    raw = bytearray(PARQUET_BYTES)
    raw[position] = byte
    path = tmp_path / "t.parquet"
    path.write_bytes(bytes(raw[:position]) if cut else bytes(raw))
    attempt(path)


@pytest.mark.parametrize("content", ["", HEAD, ROWS.replace("bob", "")])
def test_the_command_prints_the_sentence_and_exits_with_2(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_text(content)
    command = [sys.executable, "-m", "crowdwise", "inspect", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert str(path) in done.stderr
    assert json.dumps(done.stdout) == '""'
