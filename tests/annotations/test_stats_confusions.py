"""True confusion matrices and their distances against the paper's equations, cell by cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdwise.annotations import stats
from crowdwise.annotations.table import Annotations


@st.composite
def judged(draw: st.DrawFn) -> tuple[Annotations, dict[int, int]]:
    pairs = draw(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3)), unique=True, min_size=1))
    labels = [draw(st.integers(0, 2)) for _ in pairs]
    annotations = Annotations.from_triples(*zip(*pairs, strict=True), labels, classes=range(3))
    seen = annotations.item_ids.tolist()
    kept = draw(st.lists(st.sampled_from(seen), unique=True, min_size=1))
    return annotations, {item: draw(st.integers(0, 2)) for item in kept}


def slow_confusions(annotations: Annotations, truth: dict[int, int]) -> np.ndarray:
    """CM^r_pq: of r's labels on items of true class p, the share that says q; 0 where none."""
    n_classes = annotations.n_classes
    answer = np.zeros((annotations.n_annotators, n_classes, n_classes))
    for r in range(annotations.n_annotators):
        mine = annotations.annotator == r
        items = annotations.item_ids[annotations.item[mine]].tolist()
        labels = annotations.label[mine].tolist()
        for p in range(n_classes):
            said = [q for i, q in zip(items, labels, strict=True) if truth.get(i) == p]
            for q in range(n_classes):
                answer[r, p, q] = said.count(q) / len(said) if said else 0
    return answer


@given(judged())
def test_confusions_are_the_papers_equation(case):
    annotations, truth = case
    confusions = stats.true_confusions(annotations, truth)
    np.testing.assert_allclose(confusions, slow_confusions(annotations, truth), atol=1e-15)
    rows = confusions.sum(axis=2)
    assert np.isclose(rows, 0).sum() + np.isclose(rows, 1).sum() == rows.size


@given(judged())
def test_chosen_annotators_come_in_the_order_asked_for(case):
    annotations, truth = case
    everyone = stats.true_confusions(annotations, truth)
    backwards = np.arange(annotations.n_annotators)[::-1][:2]
    np.testing.assert_array_equal(
        stats.true_confusions(annotations, truth, backwards), everyone[backwards]
    )


def test_a_true_class_nobody_named_has_no_row():
    annotations = Annotations.from_triples([0, 1], ["a", "a"], ["cat", "dog"])
    confusions = stats.true_confusions(annotations, {0: "cow", 1: "dog"})
    assert confusions.tolist() == [[[0, 0], [0, 1]]]


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 99))
def test_distances_are_mean_squared_differences(n_annotators, n_classes, seed):
    rng = np.random.default_rng(seed)
    confusions = rng.dirichlet(np.ones(n_classes), size=(n_annotators, n_classes))
    slow = ((confusions[:, None] - confusions[None, :]) ** 2).mean(axis=(2, 3))
    distances = stats.confusion_distances(confusions)
    np.testing.assert_allclose(distances, slow, atol=1e-14)
    assert (np.diagonal(distances) == 0).all()
    assert (distances == distances.T).all()
    assert (distances >= 0).all()


def test_distances_follow_the_annotators_when_these_are_reordered():
    confusions = np.random.default_rng(1).random((5, 3, 3))
    order = np.array([3, 1, 4, 0, 2])
    np.testing.assert_allclose(
        stats.confusion_distances(confusions[order]),
        stats.confusion_distances(confusions)[np.ix_(order, order)],
        atol=1e-15,
    )


def test_twins_are_at_no_distance_and_opposites_at_two_over_the_classes():
    always_right = np.eye(4)
    always_next = np.roll(np.eye(4), 1, axis=1)
    distances = stats.confusion_distances([always_right, always_right, always_next])
    assert distances[0, 1] == 0
    assert distances[0, 2] == pytest.approx(2 / 4)
