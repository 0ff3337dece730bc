import numpy as np
import pytest

import crowdwise
from crowdwise.aggregate import majority_labels, vote_shares
from crowdwise.errors import InputError
from tests.aggregate.twins import annotations, crowd


def test_shares_count_votes():
    labels = annotations([0, 0, 0, 2], [0, 1, 2, 0], [1, 1, 0, 0], 3, 3, 2)
    np.testing.assert_allclose(vote_shares(labels), [[1 / 3, 2 / 3], [0.5, 0.5], [1, 0]])


def test_ties_are_drawn_evenly_from_the_tied_classes_only():
    n = 3000
    labels = annotations(
        np.repeat(np.arange(n), 2), np.tile([0, 1], n), np.tile([0, 2], n), n, 2, 3
    )
    drawn = majority_labels(labels, ties="random", seed=1)
    assert set(drawn.tolist()) == {0, 2}
    assert abs((drawn == 0).mean() - 0.5) < 0.04
    assert (drawn == majority_labels(labels, ties="random", seed=1)).all()
    assert (drawn != majority_labels(labels, ties="random", seed=2)).any()
    assert (majority_labels(labels, ties="lowest") == 0).all()


def test_an_item_nobody_labelled_is_a_tie_of_all():
    labels = annotations([0], [0], [1], 300, 1, 3)
    assert set(majority_labels(labels, seed=0)[1:].tolist()) == {0, 1, 2}


def test_ties_unknown():
    with pytest.raises(InputError, match="choose 'random' or 'lowest'"):
        majority_labels(crowd(0)[0], ties="first")


def test_majority_follows_the_votes():
    labels, _, _ = crowd(0)
    answer = crowdwise.aggregate(labels, "majority", ties="lowest")
    np.testing.assert_allclose(answer.proba, vote_shares(labels))
    assert answer.labels.tolist() == labels.classes[vote_shares(labels).argmax(axis=1)].tolist()
    assert answer.history.size == 0
