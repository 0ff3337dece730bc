"""Batches of items and their labels, against a loop over items."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.errors import InputError

R, C = 5, 3


@st.composite
def ragged(draw):
    """From 0 to R labels on each of a few items, at least one in all, rows shuffled."""
    counts = draw(st.lists(st.integers(0, R), min_size=1, max_size=12).filter(any))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    item = np.repeat(np.arange(len(counts)), counts)
    annotator = np.concatenate([rng.permutation(R)[:k] for k in counts])
    rows = rng.permutation(len(item))
    return Annotations(
        item[rows],
        annotator[rows],
        rng.integers(0, C, len(item)),
        np.arange(len(counts)),
        np.arange(R),
        np.arange(C),
    )


def slowly(crowd, order, batch_size):
    """Batches as (items, triples of row, annotator, label), item by item, label by label."""
    for start in range(0, len(order), batch_size):
        items = order[start : start + batch_size]
        triples = [
            (row, int(crowd.annotator[place]), int(crowd.label[place]))
            for row, item in enumerate(items)
            for place in range(len(crowd))
            if crowd.item[place] == item
        ]
        yield items, triples


def triples(batch):
    columns = (batch.row, batch.annotator, batch.label)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(ragged(), st.integers(1, 15), st.randoms(use_true_random=False))
def test_an_epoch_is_what_a_loop_would_give(crowd, batch_size, shuffle):
    x = np.arange(crowd.n_items, dtype=np.float32)[:, None]
    data = CrowdData(x, crowd)
    order = data.labelled.tolist()
    shuffle.shuffle(order)
    batches = list(data.epoch(torch.tensor(order), batch_size))
    expected = list(slowly(crowd, order, batch_size))
    assert len(batches) == len(expected)
    for batch, (items, labels) in zip(batches, expected, strict=True):
        assert batch.item.tolist() == items
        assert batch.x[:, 0].tolist() == items
        assert sorted(triples(batch)) == sorted(labels)
        assert batch.row.diff().ge(0).all()


@given(ragged())
def test_items_without_labels_are_left_out_and_no_label_is_lost(crowd):
    data = CrowdData(np.zeros((crowd.n_items, 1), np.float32), crowd)
    assert data.labelled.tolist() == sorted(set(crowd.item.tolist()))
    assert sum(len(batch.label) for batch in data.epoch(data.labelled, 4)) == len(crowd)


@given(ragged(), st.integers(0, 9))
def test_labels_are_held_out_by_whole_items(crowd, seed):
    data = CrowdData(np.zeros((crowd.n_items, 1), np.float32), crowd)
    if len(data.labelled) < 2:
        return
    train, validation = data.hold_out(0.5, seed)
    assert set(train.labelled.tolist()) | set(validation.labelled.tolist()) == set(
        data.labelled.tolist()
    )
    assert not set(train.labelled.tolist()) & set(validation.labelled.tolist())
    assert len(train.label) + len(validation.label) == len(crowd)
    assert len(train) == len(validation) == len(data)
    assert train.shape == validation.shape == data.shape
    assert train.source is validation.source
    again, _ = data.hold_out(0.5, seed)
    assert torch.equal(again.labelled, train.labelled)


TWO = Annotations.from_triples(["cat", "dog"], ["ann", "ann"], [0, 1])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 1.0])
def test_a_share_that_leaves_nothing_on_one_side_is_refused(share):
    with pytest.raises(InputError, match="of 2 labelled items"):
        CrowdData(np.eye(2), TWO).hold_out(share)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_value_that_is_not_finite_is_named_by_its_item(value, kind):
    x = np.zeros((2, 3, 4), kind)
    x[1, 2, 0] = value
    with pytest.raises(InputError, match=r"item dog: its features \(row 1\)"):
        CrowdData(x, TWO)


def test_features_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="one array of numbers"):
        CrowdData(np.array([["a"], ["b"]]), TWO)


def test_rows_and_items_must_match():
    with pytest.raises(InputError, match="3 rows of features"):
        CrowdData(np.zeros((3, 1)), TWO)


def test_a_crowd_without_labels_is_refused():
    nobody = Annotations.from_dense([[-1, -1]])
    with pytest.raises(InputError, match="no label at all"):
        CrowdData(np.zeros((1, 1)), nobody)


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float16, np.float32, np.float64, bool])
def test_whatever_numbers_come_in_float32_comes_out(kind):
    data = CrowdData(np.eye(2, dtype=kind), TWO)
    for x in (data.x(torch.tensor([0])), next(data.epoch(data.labelled, 2)).x):
        assert x.dtype == torch.float32
    assert data.x(torch.tensor([1])).tolist() == [[0.0, 1.0]]


def test_a_float64_tensor_is_meant():
    assert CrowdData(torch.eye(2, dtype=torch.float64), TWO).x(torch.tensor([0])).dtype == (
        torch.float64
    )
