"""No bytes and no JSON end in anything but a sound frame or one sentence."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdwise.annotations.exports import FORMATS
from crowdwise.errors import InputError

FILES = sorted((Path(__file__).parent / "files").iterdir())
KINDS = {"item": {pl.String, pl.Int64}, "annotator": {pl.String, pl.Int64}} | {
    "label": {pl.String, pl.Int64, pl.Boolean}
}
WORDS = sorted(
    {"id", "annotations", "completed_by", "result", "from_name", "value", "choices", "email"}
    | {"lead_time", "was_cancelled", "predictions", "model_version", "q.responses"}
    | {"q.responses.users", "q.responses.status", "submitted", "_input_hash", "_annotator_id"}
    | {"answer", "accept", "reject", "label"}
)
text = st.sampled_from(WORDS) | st.text(st.characters(), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=5),
    max_leaves=20,
)
tables = st.lists(
    st.lists(
        st.sampled_from(["id", "rater_id", "HITId", "WorkerId", "Answer.x", "0", "1", ""])
        | st.text(max_size=4),
        max_size=5,
    ).map(",".join),
    max_size=6,
).map("\n".join)


def read(raw: bytes) -> None:
    for form in FORMATS.values():
        assert form.detect(raw, "crowd") in (True, False)
        try:
            frame = form.parse(raw, "crowd")
        except InputError as error:
            message = str(error)
            assert message.startswith("crowd")
            assert "\n" not in message
            assert len(message.encode()) < 2_000
        else:
            assert len(frame) > 0
            for column, kinds in KINDS.items():
                assert frame.schema[column] in kinds
                assert frame[column].null_count() == 0


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=300))
@example(b"\xef\xbb\xbf\n")
@example(b'"')
@example(b"[" * 100_000)
@example(b'{"id": 1}\n' + b'{"id": ' * 50_000)
@example(b'[{"id": ' + b"[" * 500 + b"]" * 500 + b', "annotations": []}]')
@example(b'[{"id": ' + b"9" * 5_000 + b', "annotations": []}]')
@example("id,a1,a2\n".encode("utf-16"))
@example(b"\n\n")
def test_arbitrary_bytes(raw):
    read(raw)


@settings(deadline=None, max_examples=150)
@given(values)
def test_arbitrary_json(value):
    read(json.dumps(value).encode())


@settings(deadline=None, max_examples=60)
@given(st.lists(values, max_size=4))
def test_arbitrary_json_lines(lines):
    read("\n".join(json.dumps(line) for line in lines).encode())


@settings(deadline=None, max_examples=100)
@given(tables)
def test_arbitrary_tables(table):
    read(table.encode(errors="replace"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@settings(deadline=None, max_examples=10)
@given(data=st.data())
def test_damaged_files(path, data):
    raw = path.read_bytes()
    at = data.draw(st.integers(0, len(raw)))
    until = data.draw(st.integers(at, min(len(raw), at + 40)))
    read(raw[:at] + data.draw(st.binary(max_size=6)) + raw[until:])


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix == ".json"], ids=lambda path: path.name
)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_files_with_one_value_replaced(path, data):
    value = json.loads(path.read_bytes())
    spots: list = []
    walk(value, spots)
    holder, key = data.draw(st.sampled_from(range(len(spots))).map(spots.__getitem__))
    holder[key] = data.draw(values)
    read(json.dumps(value).encode())


def walk(value, spots: list) -> None:
    """Every place in a JSON value that another value can be put in."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            spots.append((value, key))
            walk(value[key], spots)
