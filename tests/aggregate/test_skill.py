"""An annotator's accuracy: exact where the truth is certain, and honest where it is not."""

import numpy as np
import pytest
from scipy.stats import beta

from crowdwise.aggregate.skill import NODES, skill, weights


def one(evidence, bar=0.5):
    found = skill(
        weights(np.array(evidence, float), np.zeros(len(evidence), int), 1), np.array([bar])
    )
    return [float(values[0]) for values in (found.accuracy, found.low, found.high, found.above_bar)]


@pytest.mark.parametrize(("right", "wrong"), [(9, 1), (50, 50), (3, 17), (400, 100)])
def test_with_certain_truth_it_is_the_beta_posterior(right, wrong):
    share = (right + 1) / (right + wrong + 2)  # of everyone, who is this one
    wanted = beta(right + 2 * share, wrong + 2 * (1 - share))
    accuracy, low, high, above = one([1.0] * right + [0.0] * wrong, bar=0.7)
    assert accuracy == pytest.approx(wanted.mean(), abs=2e-3)
    assert low == pytest.approx(wanted.ppf(0.025), abs=2e-3)
    assert high == pytest.approx(wanted.ppf(0.975), abs=2e-3)
    assert above == pytest.approx(wanted.sf(0.7), abs=5e-3)


def test_fewer_labels_give_a_wider_interval():
    widths = [high - low for _, low, high, _ in (one([1.0, 1.0, 0.0] * n) for n in (1, 3, 10, 100))]
    assert sorted(widths, reverse=True) == widths
    assert widths[0] > 3 * widths[-1]


def test_labels_of_items_nobody_knows_anything_about_teach_nothing():
    many, few = one([0.5] * 500), one([0.5])
    assert many == pytest.approx(few, abs=1e-9)
    assert many[2] - many[1] > 0.6


def test_doubt_about_the_truth_widens_the_interval():
    sure, unsure = one([1.0] * 24 + [0.0] * 16), one([0.8] * 24 + [0.2] * 16)
    assert unsure[2] - unsure[1] > 1.4 * (sure[2] - sure[1])


def test_the_mean_lies_in_the_interval_and_nobody_is_judged_without_labels():
    rng = np.random.default_rng(0)
    who = rng.integers(0, 40, 300)
    found = skill(weights(rng.random(300), who, 50), np.full(50, 0.5))
    silent = np.bincount(who, minlength=50) == 0
    assert silent.any()
    for values in (found.accuracy, found.low, found.high, found.above_bar):
        np.testing.assert_array_equal(np.isnan(values), silent)
    heard = ~silent
    assert (found.low[heard] < found.accuracy[heard]).all()
    assert (found.accuracy[heard] < found.high[heard]).all()


def test_weights_keep_count_and_mean():
    rng = np.random.default_rng(1)
    evidence, who = rng.random(200), rng.integers(0, 5, 200)
    sums = weights(evidence, who, 5)
    np.testing.assert_allclose(sums.sum(axis=1), np.bincount(who, minlength=5))
    nodes = np.linspace(0, 1, NODES + 1)
    np.testing.assert_allclose(sums @ nodes, np.bincount(who, evidence, minlength=5))
    assert weights(np.array([0.0, 1.0]), np.zeros(2, int), 1)[0, [0, NODES]].tolist() == [1, 1]
