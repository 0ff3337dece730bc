"""Weights are Beta, and k annotators per item are successive sampling without replacement."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import beta, chisquare, kstest

from crowdwise import InputError
from crowdwise.simulate import crowd
from crowdwise.simulate.sparsity import TAILS, Selection, weights

ITEMS = np.arange(200_000)


@pytest.mark.parametrize("a_b", [(1.5, 3.0), (0.2, 1.5)])
def test_weights_are_beta(a_b):
    """Kolmogorov-Smirnov at 0.1%."""
    assert kstest(weights(20_000, a_b, seed=1), beta(*a_b).cdf).pvalue > 1e-3


def test_weights_stay_positive_where_beta_underflows():
    assert (weights(1000, (0.001, 1.0), seed=0) > 0).all()


@pytest.mark.parametrize("a_b", [(0, 1), (1, -1), (float("nan"), 1), (float("inf"), 1)])
def test_beta_needs_positive_numbers(a_b):
    with pytest.raises(InputError, match="positive"):
        weights(3, a_b, seed=0)


def successive(weight, order):
    """P(this ordered draw) = product of w_r / (what is left of Σw), by the book."""
    p, left = 1.0, sum(weight)
    for r in order:
        p *= weight[r] / left
        left -= weight[r]
    return p


@pytest.mark.parametrize(
    ("weight", "k"),
    [
        ([1, 2, 3, 4, 2, 1, 2, 3], 2),  # drawn with repeats passed over
        ([1, 2, 3, 4, 2, 1, 2, 3], 3),
        ([3, 1, 2, 1, 2], 3),  # places beyond a quarter: the race
        ([1, 2, 3], 3),
        ([2, 1], 1),
        ([60, 1, 2, 1, 1, 1, 1, 1], 3),  # repeats are so frequent that the race finishes
    ],
)
def test_every_ordered_draw_has_its_probability(weight, k):
    """Chi-square over all ordered k-tuples at 0.1%; tuples expected under five times are pooled."""
    drawn = Selection(np.array(weight, dtype=float), k, seed=11)(ITEMS)
    code = (drawn.astype(np.int64) @ (len(weight) ** np.arange(k))).astype(int)
    seen = np.bincount(code, minlength=len(weight) ** k)
    orders = list(permutations(range(len(weight)), k))
    observed = np.array([seen[np.dot(order, len(weight) ** np.arange(k))] for order in orders])
    expected = len(ITEMS) * np.array([successive(weight, order) for order in orders])
    assert observed.sum() == len(ITEMS)  # nothing but draws without repeats
    rare = expected < 5
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    assert chisquare(observed, expected).pvalue > 1e-3


def test_it_agrees_with_the_k_smallest_arrivals():
    """The paper's rule written out densely; inclusion rates within 5 standard errors."""
    weight = weights(40, (1.5, 3.0), seed=2)
    drawn = Selection(weight, 3, seed=0)(ITEMS)
    random = np.random.default_rng(0)
    arrival = random.exponential(size=(len(ITEMS), 40)) / weight
    dense = np.argpartition(arrival, 3, axis=1)[:, :3]
    ours, theirs = (np.bincount(d.ravel(), minlength=40) / len(ITEMS) for d in (drawn, dense))
    error = np.sqrt(2 * theirs * (1 - theirs) / len(ITEMS))
    assert (abs(ours - theirs) < 5 * error).all()


@pytest.mark.parametrize("k", [1, 3, 9, 200, 250])
def test_no_annotator_labels_an_item_twice(k):
    drawn = Selection(weights(250, (0.2, 1.5), seed=3), k, seed=0)(np.arange(300))
    ordered = np.sort(drawn, axis=1)
    assert drawn.shape == (300, k)
    assert ordered.min() >= 0
    assert (np.diff(ordered, axis=1) > 0).all()


def test_a_smaller_k_draws_the_first_of_a_larger():
    weight = weights(30, (0.2, 1.5), seed=3)
    largest = Selection(weight, 30, seed=5)(np.arange(500))
    for k in (1, 3, 8, 9, 20):
        np.testing.assert_array_equal(Selection(weight, k, seed=5)(np.arange(500)), largest[:, :k])


def test_items_draw_on_their_own():
    """Which items are asked for together does not matter."""
    select = Selection(weights(250, (1.5, 3.0), seed=0), 5, seed=0)
    together = select(np.arange(100))
    np.testing.assert_array_equal(select(np.array([70, 3])), together[[70, 3]])


@pytest.mark.parametrize(
    ("tail", "n_items", "n_annotators", "k", "real_share", "seeds"),
    [
        ("labelme", 849, 59, 3, 0.373, 60),  # 2,547 labels
        ("music", 736, 44, 4, 0.523, 60),  # 2,944 labels
        ("cifar10n", 50_000, 747, 3, 0.238, 8),
        ("heavy", 45_000, 250, 3, 0.373, 20),  # the paper's setting with LabelMe's share
    ],
)
def test_tails_leave_as_many_with_few_labels_as_real_crowds(
    tail, n_items, n_annotators, k, real_share, seeds
):
    """Share of annotators with at most 20 labels, mean over seeds, within 0.03 of the real one."""
    shares = []
    for seed in range(seeds):
        weight = weights(n_annotators, TAILS[tail], seed)
        drawn = Selection(weight, k, seed)(np.arange(n_items))
        shares.append(np.mean(np.bincount(drawn.ravel(), minlength=n_annotators) <= 20))
    assert np.mean(shares) == pytest.approx(real_share, abs=0.03)


def test_the_papers_weights_leave_under_one_percent_with_few_labels():
    truth = np.arange(45_000) % 10
    shares = [
        np.mean(np.bincount(crowd(truth, seed=seed).annotator, minlength=250) <= 20)
        for seed in range(20)
    ]
    assert np.mean(shares) < 0.01
