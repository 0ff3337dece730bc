"""Who is suspected, of what, and who is not: on crowds whose people are known."""

import numpy as np
import pytest

from crowdwise.aggregate.with_classifier import with_classifier
from crowdwise.annotations import Annotations

C, N = 4, 900
KINDS = ("good", "fair", "constant", "guesser", "swapper", "newcomer")


@pytest.fixture(scope="module")
def judged():
    """Two of each kind among twenty good ones; a classifier right about four times in five."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, C, N)
    kinds = list(np.repeat(KINDS, 2)) + ["good"] * 20
    item, who, label = [], [], []
    for r, kind in enumerate(kinds):
        mine = rng.choice(N, 3 if kind == "newcomer" else 120, replace=False)
        right = truth[mine]
        noise = rng.integers(0, C, len(mine))
        said = {
            "constant": np.full(len(mine), 2),
            "guesser": noise,
            "swapper": (right + 1) % C,
            "newcomer": np.full(len(mine), 1),
        }.get(kind, np.where(rng.random(len(mine)) < {"fair": 0.6}.get(kind, 0.9), right, noise))
        item, who, label = [*item, *mine], [*who, *[r] * len(mine)], [*label, *said]
    x = rng.normal(size=(N, C))
    x[np.arange(N), truth] += 2
    proba = np.exp(2 * x) / np.exp(2 * x).sum(axis=1, keepdims=True)
    names = np.array(["cat", "dog", "eel", "fox"])
    crowd = Annotations(
        *map(np.array, (item, who, label)), np.arange(N), np.arange(len(kinds)), names
    )
    frame = with_classifier(crowd, proba).annotators
    return frame, crowd, dict(zip(KINDS, np.arange(12).reshape(6, 2).tolist(), strict=True))


def test_those_who_tell_nothing_are_suspected_and_nobody_else(judged):
    frame, _, kinds = judged
    suspected = np.flatnonzero(frame["suspected_spammer"]).tolist()
    assert suspected == [*kinds["constant"], *kinds["guesser"]]


def test_the_reason_is_in_words_with_the_numbers(judged):
    frame, _, kinds = judged
    for r in kinds["constant"]:
        assert frame["reason"][r].startswith("says eel in 100% of 120 labels, about ")
        assert frame["leans_to"][r] == "eel"
    for r in kinds["guesser"]:
        assert "of 120 labels" in frame["reason"][r]
        assert "without looking" in frame["reason"][r]
    assert frame["reason"][kinds["good"][0]] is None
    assert frame["leans_to"][kinds["good"][0]] is None


def test_someone_who_swaps_classes_is_wrong_and_no_spammer(judged):
    frame, _, kinds = judged
    for r in kinds["swapper"]:
        row = frame.row(r, named=True)
        assert row["accuracy_high"] < 0.2
        assert row["corrected_accuracy"] > 0.7
        assert not row["suspected_spammer"]


def test_few_labels_are_never_enough(judged):
    frame, _, kinds = judged
    for r in kinds["newcomer"]:
        row = frame.row(r, named=True)
        assert row["reason"] is None
        assert row["accuracy_high"] - row["accuracy_low"] > 0.4


def test_what_is_read_as_what_it_stands_for_is_right_no_less_often(judged):
    frame, _, kinds = judged
    assert (frame["corrected_accuracy"] >= frame["accuracy"]).all()
    good, guesser = frame["cost"][kinds["good"][0]], frame["cost"][kinds["guesser"][0]]
    assert good < 0.4 < 0.85 < guesser


def test_bias_is_the_share_given_beyond_what_is_there(judged):
    frame, _, kinds = judged
    constant, good = frame["bias"][kinds["constant"][0]], frame["bias"][kinds["good"][0]]
    assert constant > 0.6  # three quarters, less what the crowd lends
    assert good < 0.1


def test_what_is_left_out_of_the_evidence_is_the_label_itself():
    """Nobody but one annotator and a classifier that knows nothing: no label proves itself."""
    crowd = Annotations.from_triples(range(60), ["ann"] * 60, [0, 1] * 30)
    row = with_classifier(crowd, np.full((60, 2), 0.5)).annotators.row(0, named=True)
    assert row["accuracy_high"] - row["accuracy_low"] > 0.6
    assert not row["suspected_spammer"]


def test_silent_annotators_have_no_numbers_and_no_reason():
    crowd = Annotations(
        np.array([0, 1]),
        np.array([0, 0]),
        np.array([0, 1]),
        np.arange(2),
        np.arange(2),
        np.arange(2),
    )
    row = with_classifier(crowd, np.eye(2)).annotators.row(1, named=True)
    assert (row["labels"], row["accuracy"], row["accuracy_low"], row["reason"]) == (
        0,
        None,
        None,
        None,
    )
    assert row["suspected_spammer"] is False
