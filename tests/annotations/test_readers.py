"""Reading long tables: every kind of file, and exact round trips."""

import gzip
import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdwise.annotations import Annotations, read_annotations
from crowdwise.annotations.delimited import DOUBTFUL
from crowdwise.errors import InputError

TABLE = "task,worker,label\n1,ann,yes\n1,bob,no\n2,ann,no\n"
CROWD = Annotations.from_triples([1, 1, 2], ["ann", "bob", "ann"], ["yes", "no", "no"])

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
words = texts.filter(lambda text: text.strip() and text not in ("nan", "NaN"))
kinds = {
    "item": [words, st.integers()],
    "annotator": [words, st.integers()],
    "label": [words, st.integers(), st.booleans()],
}


@st.composite
def crowds(draw):
    columns = [draw(st.sampled_from(kinds[role])) for role in ("item", "annotator", "label")]
    rows = st.lists(st.tuples(*columns), min_size=2, max_size=10, unique_by=lambda row: row[:2])
    return draw(rows.filter(lambda rows: len({row[2] for row in rows}) > 1))


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def written(value) -> str:
    """A value as polars writes it into CSV."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", TABLE),
        ("t.csv", TABLE.replace("\n", "\r\n")),
        ("t.csv", TABLE.rstrip("\n")),
        ("t.csv", "\ufeff" + TABLE),
        ("t.csv", TABLE.replace("2,", "\n2,") + "\n\n"),
        ("t.csv", TABLE.replace(",", ";")),
        ("t.txt", TABLE.replace(",", "\t")),
        ("t.tsv", TABLE.replace(",", "\t")),
        ("t.csv", '"task","worker","label"\n"1","ann","yes"\n1,bob,"no"\n2,ann,no\n'),
        ("t.csv", "Worker ID,Item-Id,comment,Answer\nann,1,,yes\nbob,1,x,no\nann,2,y,no\n"),
        ("t.csv", "label,user,id,comment\nyes,ann,1,\nno,bob,1,\nno,ann,2,\n"),
        ("t.csv.gz", gzip.compress(TABLE.encode())),
        ("t.bin", gzip.compress(TABLE.encode()[:10]) + gzip.compress(TABLE.encode()[10:])),
        ("[t]*.csv", TABLE),
        (
            "t.jsonl",
            '{"item": 1, "user": "ann", "answer": "yes"}\n\n'
            '{"item": 1.0, "answer": "no", "user": "bob", "more": [1]}\r\n'
            '{"item": 2, "user": "ann", "answer": "no"}',
        ),
        ("t.json", json.dumps(CROWD.to_records(), indent=1)),
        ("t", "\ufeff" + json.dumps(CROWD.to_records())),
        (
            "t.ndjson.gz",
            gzip.compress(b"\n".join(json.dumps(r).encode() for r in CROWD.to_records())),
        ),
    ],
)
def test_one_crowd_in_many_files(tmp_path, name, content):
    assert read_annotations(write(tmp_path, name, content)) == CROWD


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["t.parquet", "t"])
def test_parquet(tmp_path, name, packed):
    buffer = io.BytesIO()
    CROWD.to_frame().write_parquet(buffer)
    raw = gzip.compress(buffer.getvalue()) if packed else buffer.getvalue()
    assert read_annotations(write(tmp_path, name, raw)) == CROWD


@pytest.mark.parametrize("content", [TABLE.encode(), gzip.compress(TABLE.encode())])
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert read_annotations("-") == CROWD


def test_a_pipe_can_be_read_only_once():
    reader, writer = os.pipe()
    os.write(writer, TABLE.encode())
    os.close(writer)
    try:
        assert read_annotations(f"/dev/fd/{reader}") == CROWD
    finally:
        os.close(reader)


@given(crowds())
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_typed_files_round_trip_exactly(tmp_path, rows):
    crowd = Annotations.from_triples(*zip(*rows, strict=True))
    lines = "\n".join(json.dumps(record) for record in crowd.to_records())
    assert read_annotations(write(tmp_path, "t.jsonl", lines)) == crowd
    if all(isinstance(v, str) or abs(v) < 2**63 for row in rows for v in row):
        crowd.to_frame().write_parquet(tmp_path / "t.parquet")
        assert read_annotations(tmp_path / "t.parquet") == crowd


@given(crowds())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_text_files_round_trip_exactly_as_text(tmp_path, rows):
    crowd = Annotations.from_triples(*zip(*rows, strict=True))
    for name, separator in (("t.csv", ","), ("t.tsv", "\t")):
        crowd.to_frame().write_csv(tmp_path / name, separator=separator)
        again = read_annotations(tmp_path / name)
        found = [tuple(map(written, record.values())) for record in again.to_records()]
        assert found == [tuple(map(written, row)) for row in rows]
        for kept, was in ((again.item_ids, crowd.item_ids), (again.classes, crowd.classes)):
            if not isinstance(was[0], str):  # a number stays a number, a boolean a boolean
                assert type(kept[:1].tolist()[0]) is type(was[:1].tolist()[0])


@given(st.lists(texts, min_size=2, max_size=8, unique=True))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_csv_refuses_is_what_is_documented(tmp_path, ids):
    frame = pl.DataFrame({"item": ids, "worker": "w", "label": [f"l{i}" for i in range(len(ids))]})
    frame.write_csv(tmp_path / "t.csv")
    if frame["item"].str.contains(DOUBTFUL).any():
        with pytest.raises(InputError, match="line"):
            read_annotations(tmp_path / "t.csv")
    else:
        crowd = read_annotations(tmp_path / "t.csv")
        assert [str(name) for name in crowd.to_triples()[0].tolist()] == ids


def test_a_lone_quote_takes_the_slow_road_to_the_same_crowd(tmp_path):
    content = 'item,worker,label\n5" pipe,ann,yes\n7,bob,no\n'
    crowd = read_annotations(write(tmp_path, "t.csv", content))
    assert crowd.to_triples()[0].tolist() == ['5" pipe', "7"]


def test_ids_that_only_look_like_numbers_stay_text(tmp_path):
    crowd = read_annotations(write(tmp_path, "t.csv", "item,user,label\n007,1,0\n8,1,1\n"))
    assert crowd.item_ids.tolist() == ["007", "8"]
    assert crowd.annotator_ids.tolist() == [1]
    assert crowd.classes.dtype == np.int64


def test_columns_classes_and_conflicts_are_options(tmp_path):
    path = write(tmp_path, "t.csv", "what,who,said\n1,a,x\n1,a,y\n2,a,y\n2,a,y\n")
    columns = {"item": "what", "annotator": "who", "label": "said"}
    crowd = read_annotations(path, **columns, classes=["z", "y", "x"], on_conflict="last")
    assert crowd.classes.tolist() == ["z", "y", "x"]
    assert [r["label"] for r in crowd.to_records()] == ["y", "y"]
    assert (crowd.repeats_dropped, crowd.conflicts_settled) == (1, 1)
    with pytest.raises(InputError, match=r"both x \(.*line 2\) and y \(.*line 3\)"):
        read_annotations(path, **columns)


def test_exports_are_recognised_and_can_be_named(tmp_path):
    path = write(tmp_path, "t.json", '{"1": {"ann": "yes", "bob": "no"}, "2": {"ann": "no"}}')
    assert read_annotations(path) == CROWD
    assert read_annotations(path, format="nested") == CROWD
    hot = write(tmp_path, "hot.csv", "id,rater_id,seen,joy,fear\na,1,1,1,0\na,2,1,0,1\n")
    with pytest.raises(InputError, match=r"several labels in one answer .seen, joy."):
        read_annotations(hot)
    for classes in (["joy", "fear"], "joy, fear"):
        crowd = read_annotations(hot, format="one-hot", classes=classes)
        assert (crowd.classes.tolist(), crowd.label.tolist()) == (["joy", "fear"], [0, 1])
    wide = write(tmp_path, "wide.csv", "doc;x\n".replace(";", ",") + "1,yes\n2,no\n")
    crowd = read_annotations(wide, format="wide", item="doc")
    assert crowd.annotator_ids.tolist() == ["x"]
    with pytest.raises(InputError, match="format nested has no option 'colour'"):
        read_annotations(path, format="nested", colour=1)
    with pytest.raises(InputError, match="no format is called 'xls'; choose one of csv, tsv"):
        read_annotations(path, format="xls")
    with pytest.raises(InputError, match="a csv table has no option 'colour'"):
        read_annotations(write(tmp_path, "t.csv", TABLE), colour=1)


@pytest.mark.skipif("CROWDWISE_DATA" not in os.environ, reason="needs the real crowds")
def test_the_real_music_crowd():
    crowd = read_annotations(Path(os.environ["CROWDWISE_DATA"]) / "music/music_genre_mturk.csv")
    assert (crowd.n_items, crowd.n_annotators, crowd.n_classes) == (700, 44, 10)
