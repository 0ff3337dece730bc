"""Addressed random numbers look like independent uniforms. Chi-square, each at 0.1%."""

import numpy as np
import pytest
from scipy.stats import chisquare

from crowdwise.simulate.hashing import bits, key, next_bits, rehash, uniform

N = 1 << 18
HERE = key(5, "labels")


def joint(x, y, n=16):
    return np.bincount((x * n).astype(int) * n + (y * n).astype(int), minlength=n * n)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.arange(N), np.zeros(N)),
        (np.zeros(N), np.arange(N)),
        (np.arange(N) % 512, np.arange(N) // 512),
        (np.arange(N) * 1024, np.arange(N) * 4096),
    ],
)
def test_uniform_along_every_axis(a, b):
    u = uniform(bits(HERE, a, b))
    assert ((u >= 0) & (u < 1)).all()
    assert chisquare(np.bincount((u * 1000).astype(int), minlength=1000)).pvalue > 1e-3


@pytest.mark.parametrize("shift", [(1, 0), (0, 1), (1, 1), (0, 10), (16, 0)])
def test_neighbouring_addresses_are_independent(shift):
    apart = 2 * max(shift)  # so that no number serves in two pairs
    a, b = np.arange(N) % 512 * apart, np.arange(N) // 512 * apart
    here, there = uniform(bits(HERE, a, b)), uniform(bits(HERE, a + shift[0], b + shift[1]))
    assert chisquare(joint(here, there)).pvalue > 1e-3


def test_further_numbers_of_an_address_and_other_seeds_are_independent():
    here = bits(HERE, np.arange(N), 3)
    for other in (next_bits(here), bits(key(6, "labels"), np.arange(N), 3)):
        assert chisquare(joint(uniform(here), uniform(other))).pvalue > 1e-3


def test_streams_differ():
    assert key(0, "labels") != key(0, "selection") != key(1, "selection")


def test_rehash_is_a_bijection_on_what_we_can_see():
    assert len(np.unique(rehash(np.arange(N, dtype=np.uint64)))) == N


def test_the_numbers_are_pinned():
    """A change here changes every synthetic crowd: do it on purpose, in a release."""
    assert bits(np.uint64(7), [0, 1], [5, 5]).tolist() == PINNED


PINNED = [6681691076250564230, 12787191717577152438]
