"""Agreement against the textbook and against definitions that look at every pair of labels."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdwise.annotations import agreement, stats
from crowdwise.annotations.table import Annotations

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers,
# twelve units, five values, missing entries. Nominal alpha is 0.743.
TEXTBOOK = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@st.composite
def tables(draw: st.DrawFn) -> Annotations:
    cells = st.tuples(st.integers(0, 5), st.integers(0, 4))
    pairs = draw(st.lists(cells, unique=True, min_size=1))
    labels = [draw(st.integers(0, 2)) for _ in pairs]
    return Annotations.from_triples(*zip(*pairs, strict=True), labels)


def labels_by_item(annotations: Annotations) -> list[list[tuple[int, int]]]:
    """For each item its (annotator, label) codes."""
    items: list[list[tuple[int, int]]] = [[] for _ in range(annotations.n_items)]
    rows = zip(annotations.item, annotations.annotator, annotations.label, strict=True)
    for item, annotator, label in rows:
        items[item].append((int(annotator), int(label)))
    return items


def slow_alpha(annotations: Annotations) -> float:
    """Alpha by the coincidence matrix: each ordered pair of an item's labels counts 1/(m - 1)."""
    coincidences = np.zeros((annotations.n_classes, annotations.n_classes))
    for given_labels in labels_by_item(annotations):
        for (_, c), (_, k) in itertools.permutations(given_labels, 2):
            coincidences[c, k] += 1 / (len(given_labels) - 1)
    per_class, n = coincidences.sum(axis=0), coincidences.sum()
    different = ~np.eye(annotations.n_classes, dtype=bool)
    expected = np.outer(per_class, per_class)[different].sum()
    if expected == 0:
        return float("nan")
    return float(1 - (n - 1) * coincidences[different].sum() / expected)


def test_alpha_is_the_textbooks():
    rows = [
        (unit, observer, value)
        for observer, values in enumerate(TEXTBOOK)
        for unit, value in enumerate(values)
        if value is not None
    ]
    annotations = Annotations.from_triples(*zip(*rows, strict=True))
    assert stats.krippendorff_alpha(annotations) == pytest.approx(0.743, abs=5e-4)
    assert slow_alpha(annotations) == pytest.approx(0.743, abs=5e-4)


@given(tables())
def test_alpha_is_that_of_the_coincidence_matrix(annotations):
    fast = stats.krippendorff_alpha(annotations)
    assert fast == pytest.approx(slow_alpha(annotations), abs=1e-9, nan_ok=True)


def test_alpha_is_not_defined_without_pairs_or_without_variety():
    alone = Annotations.from_triples([0, 1], ["a", "b"], [0, 1])
    unanimous = Annotations.from_triples([0, 0], ["a", "b"], [1, 1])
    assert math.isnan(stats.krippendorff_alpha(alone))
    assert math.isnan(stats.krippendorff_alpha(unanimous))


def test_alpha_of_random_answers_is_near_zero():
    rng = np.random.default_rng(0)
    item, annotator = np.divmod(np.arange(20_000), 4)
    annotations = Annotations.from_triples(item, annotator, rng.integers(0, 5, 20_000))
    assert abs(stats.krippendorff_alpha(annotations)) < 0.01


@given(tables())
def test_label_agreement_is_the_share_of_equal_pairs(annotations):
    equal = [
        c == k
        for given_labels in labels_by_item(annotations)
        for (_, c), (_, k) in itertools.combinations(given_labels, 2)
    ]
    expected = np.mean(equal) if equal else float("nan")
    assert stats.label_agreement(annotations) == pytest.approx(expected, nan_ok=True)


def slow_pairs(annotations: Annotations) -> dict[tuple[int, int], tuple[int, int]]:
    """(a, b) with a < b -> (shared items, agreements), by looking at every pair of labels."""
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for given_labels in labels_by_item(annotations):
        for (a, c), (b, k) in itertools.combinations(sorted(given_labels), 2):
            shared, agreements = pairs.get((a, b), (0, 0))
            pairs[a, b] = (shared + 1, agreements + (c == k))
    return pairs


@given(tables(), st.integers(1, 3), st.integers(1, 12))
def test_pairwise_agreement_is_that_of_every_pair_of_labels(annotations, min_shared, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "_BLOCK", block)  # many blocks, some of a single annotator
        found = stats.pairwise_agreement(annotations, min_shared)
    pairs = zip(found.a.tolist(), found.b.tolist(), strict=True)
    counts = zip(found.shared.tolist(), found.agreements.tolist(), strict=True)
    expected = {p: n for p, n in slow_pairs(annotations).items() if n[0] >= min_shared}
    assert dict(zip(pairs, counts, strict=True)) == expected
    assert list(zip(found.a, found.b, strict=True)) == sorted(expected)


def test_an_item_that_everyone_labelled_is_taken_in_blocks(monkeypatch):
    people = 1_500
    item = np.concatenate([np.zeros(people, int), np.arange(1, people + 1) // 2 + 1])
    annotator = np.tile(np.arange(people), 2)
    annotations = Annotations.from_triples(item, annotator, annotator % 3)
    monkeypatch.setattr(agreement, "_BLOCK", 100_000)
    everyone = stats.pairwise_agreement(annotations)
    assert len(everyone.a) == people * (people - 1) // 2
    neighbours = stats.pairwise_agreement(annotations, min_shared=2)
    assert len(neighbours.a) == people // 2 - 1
    assert set((neighbours.b - neighbours.a).tolist()) == {1}
