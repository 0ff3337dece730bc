"""Annotations: built from everything, turned back into everything."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdwise.annotations import Annotations
from crowdwise.errors import InputError

texts = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1
).filter(str.strip)
whole = st.integers()
kinds = {
    "item": [texts, whole],
    "annotator": [texts, whole],
    "label": [texts, whole, st.booleans()],
}


@st.composite
def crowds(draw):
    """Rows (item, annotator, label) with distinct pairs, each column of one kind."""
    columns = [draw(st.sampled_from(kinds[role])) for role in ("item", "annotator", "label")]
    pairs = st.tuples(*columns)
    return draw(st.lists(pairs, min_size=1, max_size=12, unique_by=lambda row: row[:2]))


@pytest.fixture
def crowd() -> Annotations:
    return Annotations.from_triples(
        ["b", "a", "b", "c"], [7, 7, 9, 9], ["yes", "no", "no", "yes"], classes=["yes", "no"]
    )


def as_tuples(annotations: Annotations) -> list[tuple]:
    return [tuple(record.values()) for record in annotations.to_records()]


def test_codes_and_vocabularies(crowd):
    assert crowd.item.dtype == crowd.annotator.dtype == crowd.label.dtype == np.int32
    assert crowd.item.tolist() == [1, 0, 1, 2]
    assert crowd.item_ids.tolist() == ["a", "b", "c"]
    assert crowd.annotator_ids.tolist() == [7, 9]
    assert crowd.classes.tolist() == ["yes", "no"]
    assert (len(crowd), crowd.n_items, crowd.n_annotators, crowd.n_classes) == (4, 3, 2, 2)
    assert repr(crowd) == "Annotations(4 labels: 3 items, 2 annotators, classes ['yes', 'no'])"


@given(crowds())
@settings(max_examples=150)
def test_triples_and_records_come_back_with_their_types(rows):
    crowd = Annotations.from_triples(*zip(*rows, strict=True))
    again = as_tuples(crowd)
    assert again == rows
    assert [[type(v) for v in row] for row in again] == [[type(v) for v in row] for row in rows]
    assert Annotations.from_records(crowd.to_records()) == crowd
    triples = crowd.to_triples()
    assert Annotations.from_triples(*triples) == crowd


@given(crowds())
@settings(max_examples=60)
def test_frames_come_back_in_the_kind_that_went_in(rows):
    small = [row for row in rows if all(isinstance(v, str) or abs(v) < 2**63 for v in row)]
    columns = {
        name: [row[i] for row in small] for i, name in enumerate(["task", "worker", "label"])
    }
    if not small:
        return
    reference = Annotations.from_triples(*columns.values())
    for frame in (pl.DataFrame(columns), pd.DataFrame(columns), pa.table(columns)):
        crowd = Annotations.from_frame(frame)
        assert crowd == reference
        assert type(crowd.to_frame()) is type(frame)
        assert Annotations.from_frame(crowd.to_frame()) == reference


def test_a_lazy_frame_and_a_categorical_column():
    frame = pl.DataFrame({"item": [1, 2], "user": ["a", "a"], "label": ["x", "y"]})
    lazy = frame.with_columns(pl.col("label").cast(pl.Categorical)).lazy()
    assert Annotations.from_frame(lazy) == Annotations.from_frame(frame)


def test_integers_beyond_64_bits_stay_python_integers():
    crowd = Annotations.from_triples([10**30, 3, -(10**20)], [1, 1, 1], [0, 1, 0])
    assert crowd.item_ids.tolist() == [-(10**20), 3, 10**30]
    assert as_tuples(crowd)[0] == (10**30, 1, 0)
    unsigned = Annotations.from_triples(np.array([2**64 - 1, 0], dtype=np.uint64), [1, 1], [0, 1])
    assert unsigned.item_ids.tolist() == [0, 2**64 - 1]


def test_one_long_id_among_many_does_not_widen_all_of_them():
    ids = [f"item-{i}" for i in range(5_000)] + ["x" * 100_000]
    crowd = Annotations.from_triples(ids, ["ann"] * len(ids), [0, 1] * 2_500 + [1])
    assert crowd.item_ids.dtype == object
    assert crowd.to_triples()[0].tolist() == ids


def test_dense_round_trip_and_missing_markers():
    matrix = np.array([[0, -1, 2], [-1, -1, -1], [1, 0, -1]])
    crowd = Annotations.from_dense(matrix)
    assert (crowd.n_items, crowd.n_annotators, len(crowd)) == (3, 3, 4)
    assert (crowd.to_dense() == matrix).all()
    floats = np.where(matrix == -1, np.nan, matrix)
    assert Annotations.from_dense(floats) == crowd
    names = np.array([["cat", None], ["dog", "cat"]], dtype=object)
    named = Annotations.from_dense(names)
    assert named.classes.tolist() == ["cat", "dog"]
    assert Annotations.from_dense(named.to_dense(missing=None), missing=None) == named
    assert Annotations.from_dense(named.to_dense(missing=-1)) == named
    blank = np.array([["cat", ""], ["dog", "cat"]])
    assert Annotations.from_dense(blank, missing="") == named
    with pytest.raises(InputError, match="0 is one of the classes"):
        crowd.to_dense(missing=0)
    with pytest.raises(InputError, match="1 dimension"):
        Annotations.from_dense([1, 2, 3])


@given(crowds())
@settings(max_examples=60)
def test_groups_list_every_row_once_in_order(rows):
    crowd = Annotations.from_triples(*zip(*rows, strict=True))
    for (offsets, order), codes, size in (
        (crowd.by_item, crowd.item, crowd.n_items),
        (crowd.by_annotator, crowd.annotator, crowd.n_annotators),
    ):
        assert len(offsets) == size + 1
        for code in range(size):
            members = order[offsets[code] : offsets[code + 1]]
            assert members.tolist() == np.flatnonzero(codes == code).tolist()
    assert crowd.by_item is crowd.by_item


def test_votes_are_sparse_counts():
    crowd = Annotations.from_triples([1, 1, 1, 2], [1, 2, 3, 1], ["a", "b", "b", "a"])
    votes = crowd.votes()
    assert votes.format == "csr"
    assert votes.toarray().tolist() == [[1, 2], [1, 0]]


def test_subset_keeps_the_order_wanted_and_the_other_vocabularies(crowd):
    part = crowd.subset(items=["c", "b"])
    assert part.item_ids.tolist() == ["c", "b"]
    assert part.item.tolist() == [1, 1, 0]
    assert part.annotator_ids is crowd.annotator_ids or (
        part.annotator_ids.tolist() == crowd.annotator_ids.tolist()
    )
    assert crowd.subset(items=np.array([True, False, True])).item_ids.tolist() == ["a", "c"]
    assert len(crowd.subset(items=[])) == 0
    assert crowd.subset(items=crowd.item_ids) == crowd
    with pytest.raises(InputError, match="no item is called 'z'"):
        crowd.subset(items=["z"])
    with pytest.raises(InputError, match="named twice"):
        crowd.subset(items=["a", "a"])
    with pytest.raises(InputError, match="mask has 2 entries for 3 items"):
        crowd.subset(items=np.array([True, False]))


def test_equality_ignores_the_order_of_rows_only(crowd):
    rows = as_tuples(crowd)[::-1]
    shuffled = Annotations.from_triples(*zip(*rows, strict=True), classes=["yes", "no"])
    assert shuffled == crowd
    assert hash(shuffled) == hash(crowd)
    assert Annotations.from_triples(*zip(*rows, strict=True)) != crowd  # classes in another order
    assert Annotations.from_triples([1], [1], [1]) != Annotations.from_triples(["1"], [1], [1])
    assert Annotations.from_triples([1], [1], [1]) != Annotations.from_triples([1], [1], [True])


def test_copies_are_equal_and_as_read_only(crowd):
    for again in (pickle.loads(pickle.dumps(crowd)), copy.deepcopy(crowd), copy.copy(crowd)):
        assert again == crowd
        for name in ("item", "annotator", "label", "item_ids", "annotator_ids", "classes"):
            assert not getattr(again, name).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        crowd.label[0] = 1
    with pytest.raises(AttributeError):
        crowd.label = crowd.item


def test_impossible_codes_are_refused():
    ids = np.arange(2)
    with pytest.raises(ValueError, match="outside"):
        Annotations(np.array([2]), np.array([0]), np.array([0]), ids, ids, ids)
    with pytest.raises(ValueError, match="shape"):
        Annotations(np.array([0, 1]), np.array([0]), np.array([0]), ids, ids, ids)


def test_nothing_and_one_of_everything_are_legal():
    empty = Annotations.from_triples([], [], [])
    assert len(empty) == empty.n_items == empty.n_classes == 0
    assert empty == pickle.loads(pickle.dumps(empty))
    assert empty.votes().shape == (0, 0)
    single = Annotations.from_triples(["i"], ["a"], ["x"])
    assert single.by_item[0].tolist() == [0, 1]


def test_classes_take_the_kind_of_the_labels_and_may_be_unused():
    crowd = Annotations.from_triples([1, 2], [1, 1], [2, 0], classes=["0", "1", "2"])
    assert crowd.classes.tolist() == [0, 1, 2]
    assert crowd.label.tolist() == [2, 0]
    with pytest.raises(InputError, match=r"row 1 .*label b is not among the classes given \(a\)"):
        Annotations.from_triples([1, 2], [1, 1], ["a", "b"], classes=["a"])
    with pytest.raises(InputError, match="class a is named twice"):
        Annotations.from_triples([1, 2], [1, 1], ["a", "b"], classes=["a", "b", "a"])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", ""], r"row 1 \(counted from 0\): the label is empty"),
        (["a", None], "row 1 .*the label is missing"),
        ([1.0, float("nan")], "row 1 .*the label is missing"),
        (np.array([1.0, np.nan]), "row 1 .*the label is missing"),
        (pd.array([1, None], dtype="Int64"), "row 1 .*the label is missing"),
        (pl.Series([1, None]), "row 1 .*the label is missing"),
        (pd.Series([pd.NaT, pd.NaT]), "row 0 .*the label is missing"),
        ([1, "a"], "row 1 .*the label 'a' is text, the rows before have an integer"),
        ([1, True], "row 1 .*the label True is a boolean, the rows before have an integer"),
        ([0.5, 1.0], "row 0 .*the label 0.5 should be a string, an integer"),
        (np.array([0.5, 1.0]), "row 0 .*the label 0.5 should be"),
        (np.array([1.0, np.inf]), "row 1 .*the label inf should be"),
        ([b"a", b"b"], "row 0 .*should be a string"),
        ([["a"], ["b"]], "row 0 .*should be a string"),
        (np.array([["a"], ["b"]]), "2 dimensions"),
        (pl.Series([["a"], ["b"]]), "row 0 .*should be a string"),
        (["a", "\ud800"], "row 1 .*half of a character"),
        (["a", "b\0"], "row 1 .*NUL byte"),
        (["a"], "2 items, 2 annotators and 1 labels"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "row 0 .*should be a string"),
    ],
)
def test_a_bad_column_gets_one_sentence(column, message):
    with pytest.raises(InputError, match=message):
        Annotations.from_triples([1, 2], [1, 1], column)


def test_booleans_are_no_ids():
    with pytest.raises(InputError, match="the item True should be"):
        Annotations.from_triples([True, False], [1, 1], [0, 1])
    with pytest.raises(InputError, match="the annotator True should be"):
        Annotations.from_triples([1, 2], np.array([True, False]), [0, 1])


def test_whole_floats_count_as_integers():
    crowd = Annotations.from_triples([1.0, 2.0], np.array([3.0, 3.0]), [1, 2.0])
    assert as_tuples(crowd) == [(1, 3, 1), (2, 3, 2)]
    assert crowd.item_ids.dtype == np.int64


def test_no_data_frame_and_no_such_column():
    with pytest.raises(InputError, match="a list is no data frame"):
        Annotations.from_frame([1, 2])
    frame = pl.DataFrame({"item": [1], "user": [1], "what": [1]})
    with pytest.raises(InputError, match=r"no column looks like the label \(columns found: 'item'"):
        Annotations.from_frame(frame)
    assert len(Annotations.from_frame(frame, label="what")) == 1
    with pytest.raises(InputError, match=r"row 1 .*the label is missing"):
        Annotations.from_records([{"item": 1, "user": 1, "label": 1}, {"item": 2, "user": 1}])
