"""The eight cases give the noise rates of methods.md's table, which 80 seeds at N = 45,000 gave."""

import numpy as np
import pytest

from crowdwise.simulate import CASES, crowd

SEEDS = 20
TABLE = {  # NR1 mean, sd over seeds, NR2 mean, sd over seeds; percent
    "IND-I": (18.01, 0.73, 55.09, 0.78),
    "IND-II": (26.63, 0.69, 63.13, 0.55),
    "IND-III": (21.15, 0.83, 57.73, 0.80),
    "IND-IV": (9.72, 0.42, 45.95, 0.65),
    "COR-I": (19.61, 1.01, 56.97, 0.98),
    "COR-II": (14.96, 0.84, 51.15, 0.50),
    "COR-III": (9.37, 0.26, 45.32, 0.36),
    "COR-IV": (10.98, 0.68, 47.92, 0.96),
}


def noise_rates(annotations, truth):
    """NR1: items none of whose labels is right; NR2: labels that are wrong. Percent."""
    wrong = annotations.label != truth[annotations.item]
    right = np.bincount(annotations.item, weights=~wrong, minlength=len(truth))
    return 100 * np.mean(right == 0), 100 * np.mean(wrong)


@pytest.mark.parametrize("case", TABLE)
def test_mean_noise_rates_lie_within_four_standard_errors_of_the_table(case):
    truth = np.arange(45_000) % 10
    rates = [noise_rates(crowd(truth, case, seed=seed), truth) for seed in range(SEEDS)]
    nr1, nr2 = np.mean(rates, axis=0)
    mean1, sd1, mean2, sd2 = TABLE[case]
    assert abs(nr1 - mean1) < 4 * sd1 / SEEDS**0.5
    assert abs(nr2 - mean2) < 4 * sd2 / SEEDS**0.5


def test_the_table_covers_every_case():
    assert list(TABLE) == list(CASES)


def test_the_cases_are_the_papers():
    assert CASES == {
        "IND-I": ("sym-0.3", "sym-0.5", "pair-0.6", "class-wise-1,3,4,6,8", "dummy"),
        "IND-II": ("sym-0.4", "class-wise-2,5,9", "pair-0.6", "class-wise-0,6,8", "dummy"),
        "IND-III": ("pair-0.3", "pair-0.6", "class-wise-0,4,5", "class-wise-1,3,4,6,8", "dummy"),
        "IND-IV": ("sym-0.3", "sym-0.5", "sym-0.7", "pair-0.5", "pair-0.3"),
        "COR-I": ("sym-0.4", "class-wise-2,5,9", "dummy", "supportive", "opposite"),
        "COR-II": ("pair-0.5", "class-wise-0,6,8", "supportive", "opposite", "copy"),
        "COR-III": ("pair-0.4", "sym-0.5", "opposite", "supportive", "copy"),
        "COR-IV": ("sym-0.5", "pair-0.7", "pair-0.3", "opposite", "supportive"),
    }
