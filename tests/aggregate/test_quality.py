import numpy as np
import pytest

import crowdwise
from crowdwise.aggregate.quality import quality
from tests.aggregate.twins import annotations


def cost(confusion, shares):
    confusion = np.asarray(confusion, float)
    return float(quality(100 * confusion[None], np.asarray(shares), confusion[None])["cost"][0])


def test_cost_tells_bias_from_noise():
    half = [0.5, 0.5]
    assert cost([[1, 0], [0, 1]], half) == 0
    assert cost([[0, 1], [1, 0]], half) == 0  # always swaps: biased, and recoverable
    assert cost([[0.5, 0.5], [0.5, 0.5]], half) == pytest.approx(1)
    assert cost([[1, 0], [1, 0]], half) == pytest.approx(1)  # always says the same
    assert 0 < cost([[0.8, 0.2], [0.2, 0.8]], half) < 1


def test_cost_by_hand():
    # Labels 0 and 1 are given with chance .45 and .55; they stand for (8/9, 1/9), (2/11, 9/11).
    noise = 0.45 * (1 - (8 / 9) ** 2 - (1 / 9) ** 2) + 0.55 * (1 - (2 / 11) ** 2 - (9 / 11) ** 2)
    assert cost([[0.8, 0.2], [0.1, 0.9]], [0.5, 0.5]) == pytest.approx(noise / 0.5)


def test_corrected_accuracy_undoes_a_swap():
    swap = np.array([[[0, 1.0], [1.0, 0]]])
    columns = quality(50 * swap, np.array([0.5, 0.5]), swap)
    assert columns["accuracy"][0] == 0
    assert columns["corrected_accuracy"][0] == 1


def test_the_frame_shows_a_swapper_as_biased_and_a_guesser_as_noisy():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 500)
    say = np.stack([truth] * 4 + [1 - truth, rng.integers(0, 2, 500)], axis=1)
    flip = rng.random(say.shape) < 0.05
    labels = annotations(
        np.repeat(np.arange(500), 6), np.tile(np.arange(6), 500), (say ^ flip).ravel(), 500, 6, 2
    )
    frame = crowdwise.aggregate(labels).annotators
    swapper, guesser = frame.row(4, named=True), frame.row(5, named=True)
    assert swapper["accuracy"] < 0.1 < 0.9 < swapper["corrected_accuracy"]
    assert swapper["cost"] < 0.3 < 0.95 < guesser["cost"]
    assert frame["labels"].to_list() == [500] * 6
