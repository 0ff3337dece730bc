"""Counts, balance, noise and accuracy against their definitions, written out slowly."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdwise.annotations import stats
from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError

CLASSES = ("cat", "cow", "dog")


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[tuple[int, str, str]], dict[int, str]]:
    """Rows (item, annotator, label), no annotator twice on an item, and truth for some items."""
    pairs = draw(
        st.lists(st.tuples(st.integers(0, 6), st.sampled_from("abcdef")), unique=True, min_size=1)
    )
    rows = [(item, who, draw(st.sampled_from(CLASSES))) for item, who in pairs]
    seen = sorted({row[0] for row in rows})
    truth = {item: draw(st.sampled_from(CLASSES)) for item in seen}
    kept = draw(st.lists(st.sampled_from(seen), unique=True, min_size=1))
    return rows, {item: truth[item] for item in kept}


def table(rows: list[tuple[int, str, str]]) -> Annotations:
    return Annotations.from_triples(*zip(*rows, strict=True), classes=CLASSES)


@given(crowds())
def test_noise_rates_are_the_papers_definitions(crowd):
    rows, truth = crowd
    nr1, nr2 = stats.noise_rates(table(rows), truth)

    votes = {item: [label for i, _, label in rows if i == item] for item in truth}
    assert nr1 == pytest.approx(
        sum(truth[item] not in labels for item, labels in votes.items()) / len(votes)
    )
    wrong = [label != truth[item] for item, _, label in rows if item in truth]
    assert nr2 == pytest.approx(sum(wrong) / len(wrong))


@given(crowds(), st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_annotators_do_not_matter(crowd, random):
    rows, truth = crowd
    shuffled = random.sample(rows, len(rows))
    renamed = dict(zip("abcdef", random.sample("uvwxyz", 6), strict=True))
    other = table([(item, renamed[who], label) for item, who, label in shuffled])
    first = table(rows)
    assert stats.noise_rates(first, truth) == stats.noise_rates(other, truth)
    alpha = stats.krippendorff_alpha(first)
    assert alpha == pytest.approx(stats.krippendorff_alpha(other), abs=1e-12, nan_ok=True)
    assert sorted(stats.labels_per_annotator(first)) == sorted(stats.labels_per_annotator(other))
    assert stats.labels_per_item(first).tolist() == stats.labels_per_item(other).tolist()
    assert stats.class_balance(first).tolist() == stats.class_balance(other).tolist()


@given(crowds())
def test_truth_as_a_mapping_and_along_the_items_say_the_same(crowd):
    rows, truth = crowd
    annotations = table(rows)
    along = [truth.get(item) for item in annotations.item_ids.tolist()]
    assert stats.noise_rates(annotations, truth) == stats.noise_rates(annotations, along)


@given(crowds())
def test_accuracy_is_the_share_of_right_labels(crowd):
    rows, truth = crowd
    annotations = table(rows)
    accuracy = stats.annotator_accuracy(annotations, truth)
    for code, who in enumerate(annotations.annotator_ids.tolist()):
        right = [label == truth[item] for item, w, label in rows if w == who and item in truth]
        if right:
            assert accuracy[code] == pytest.approx(sum(right) / len(right))
        else:
            assert math.isnan(accuracy[code])


@settings(max_examples=50)
@given(crowds())
def test_counts_add_up_to_the_labels(crowd):
    rows, _ = crowd
    annotations = table(rows)
    assert stats.labels_per_annotator(annotations).sum() == len(rows)
    assert stats.labels_per_item(annotations).sum() == len(rows)
    assert stats.class_balance(annotations).sum() == pytest.approx(1)
    for code, name in enumerate(CLASSES):
        share = sum(label == name for _, _, label in rows) / len(rows)
        assert stats.class_balance(annotations)[code] == pytest.approx(share)


def test_items_without_truth_are_left_out_of_both_rates():
    annotations = table([(0, "a", "cat"), (0, "b", "dog"), (1, "a", "cow"), (2, "a", "cat")])
    assert stats.noise_rates(annotations, {0: "cat", 1: "dog"}) == (1 / 2, 2 / 3)
    assert stats.noise_rates(annotations, ["cat", None, float("nan")]) == (0, 1 / 2)


def test_no_truth_at_all_gives_no_rate():
    assert np.isnan(stats.noise_rates(table([(0, "a", "cat")]), {})).all()


def test_a_true_class_that_nobody_named_makes_every_label_wrong():
    annotations = Annotations.from_triples([0, 0, 1], list("aba"), ["cat", "dog", "cat"])
    assert stats.noise_rates(annotations, {0: "cow", 1: "cat"}) == (1 / 2, 2 / 3)
    assert stats.annotator_accuracy(annotations, {0: "cow", 1: "cat"}).tolist() == [0.5, 0]


def test_integer_and_boolean_labels_meet_their_truth():
    numbers = Annotations.from_triples([0, 1], ["a", "a"], [3, 5])
    assert stats.noise_rates(numbers, np.array([3, 3])) == (0.5, 0.5)
    assert stats.noise_rates(numbers, np.array([3.0, np.nan])) == (0, 0)
    yes = Annotations.from_triples([0, 1], ["a", "a"], [True, False])
    assert stats.noise_rates(yes, {0: True, 1: True}) == (0.5, 0.5)


def test_truth_of_other_items_is_refused_with_both_sides_named():
    with pytest.raises(InputError, match=r"none of the crowd's items.*'7'.*labelled 0"):
        stats.noise_rates(table([(0, "a", "cat")]), {"7": "cat"})


def test_truth_in_other_words_is_refused_with_both_sides_named():
    with pytest.raises(InputError, match=r"the truth says 'CAT', the crowd says 'cat', 'cow', 'd"):
        stats.noise_rates(table([(0, "a", "cat")]), {0: "CAT"})


def test_truth_of_another_length_is_refused():
    with pytest.raises(InputError, match=r"shape \(2,\), the crowd 1 items"):
        stats.noise_rates(table([(0, "a", "cat")]), ["cat", "dog"])
