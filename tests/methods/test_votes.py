"""Votes counted in tensors, against counting by hand."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from crowdwise.aggregate import votes as aggregate
from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.methods.votes import expected_votes, majority, vote_counts, vote_shares
from tests.methods.toys import C, R, crowd, features


@given(st.integers(0, 99), st.integers(1, 7))
def test_counts_shares_and_expected_votes(seed: int, per_item: int) -> None:
    annotations = crowd(seed, per_item=per_item)
    data = CrowdData(features(), annotations)
    counts = np.zeros((annotations.n_items, C))
    for i, c in zip(annotations.item, annotations.label, strict=True):
        counts[i, c] += 1
    expected = np.zeros((R, C, C))
    triples = zip(annotations.item, annotations.annotator, annotations.label, strict=True)
    for i, r, q in triples:
        expected[r, :, q] += counts[i] / per_item
    np.testing.assert_array_equal(vote_counts(data), counts)
    np.testing.assert_allclose(vote_shares(data), counts / per_item, rtol=1e-6)
    np.testing.assert_allclose(expected_votes(data), expected, rtol=1e-5, atol=1e-6)


def test_an_item_without_labels_has_no_votes_and_no_majority() -> None:
    annotations = Annotations(
        *(np.array(a, dtype=np.int32) for a in ([0, 2], [0, 0], [1, 1])),
        item_ids=np.arange(3),
        annotator_ids=np.array(["a"]),
        classes=np.arange(2),
    )
    data = CrowdData(np.zeros((3, 1), np.float32), annotations)
    assert vote_shares(data)[1].tolist() == [0, 0]
    assert majority(data, seed=None)[1].tolist() == [0, 0]
    assert majority(data, seed=4).sum(dim=1).tolist() == [1, 0, 1]


def test_the_majority_ignores_the_seed_where_there_is_no_tie() -> None:
    data = CrowdData(features(), crowd(per_item=5))
    counts = vote_counts(data)
    clear = (counts == counts.amax(dim=1, keepdim=True)).sum(dim=1) == 1
    assert clear.any()
    for seed in range(20):
        assert torch.equal(majority(data, seed)[clear].argmax(1), counts[clear].argmax(1))


@given(st.integers(0, 99), st.integers(1, 7))
def test_votes_agree_with_the_truth_inference_of_the_same_name(seed: int, per_item: int) -> None:
    annotations = crowd(seed, per_item=per_item)
    data = CrowdData(features(), annotations)
    np.testing.assert_allclose(vote_shares(data), aggregate.vote_shares(annotations), rtol=1e-6)
    lowest = majority(data, seed=None).argmax(dim=1)
    assert lowest.tolist() == aggregate.majority_labels(annotations, ties="lowest").tolist()
