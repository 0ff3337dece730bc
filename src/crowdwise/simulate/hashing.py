"""Random numbers by address: the number at (seed, stream, a, b) is computed, never stored.

A copying annotator needs the label of its reference on an item that the reference was perhaps
never asked about. With addressed numbers that label is a function of (seed, annotator, item), so
it is the same whoever asks, in whatever order, and in blocks of whatever size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bits = NDArray[np.uint64]
Uniforms = NDArray[np.float64]

STREAMS = ("weights", "references", "truth", "difficulty", "selection", "race", "labels")

_STEP_A = np.uint64(0x9E3779B97F4A7C15)
_STEP_B = np.uint64(0xD1342543DE82EF95)
_MULTIPLY_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLY_2 = np.uint64(0x94D049BB133111EB)


def generator(seed: int, stream: str) -> np.random.Generator:
    """Return a NumPy generator for what is drawn once, one independent stream per purpose."""
    return np.random.default_rng([STREAMS.index(stream), seed])


def key(seed: int, stream: str) -> np.uint64:
    """Return the 64-bit key of a stream of addressed numbers."""
    sequence = np.random.SeedSequence([STREAMS.index(stream), seed])
    return np.uint64(sequence.generate_state(1, np.uint64)[0])


def bits(key: np.uint64, a: ArrayLike, b: ArrayLike) -> Bits:
    """Return 64 hashed bits for every address (a, b); a and b broadcast.

    Two rounds of SplitMix64's finaliser, one after each coordinate is added.

    Example:
        >>> here = bits(np.uint64(7), [0, 1, 2], [5, 5, 5])
        >>> bool((here[1] == bits(np.uint64(7), [1], [5])).all()), len(set(here.tolist()))
        (True, 3)
    """
    first = np.atleast_1d(np.asarray(a)).astype(np.uint64)
    second = np.atleast_1d(np.asarray(b)).astype(np.uint64)
    return rehash(rehash(first * _STEP_A + key) + second * _STEP_B)


def rehash(x: Bits) -> Bits:
    """Return SplitMix64's finaliser of x: a bijection in which every bit depends on every bit."""
    x = (x ^ (x >> np.uint64(30))) * _MULTIPLY_1
    x = (x ^ (x >> np.uint64(27))) * _MULTIPLY_2
    return x ^ (x >> np.uint64(31))


def next_bits(x: Bits) -> Bits:
    """Return further bits from the same address."""
    return rehash(x + _STEP_A)


def uniform(x: Bits) -> Uniforms:
    """Turn bits into numbers in [0, 1): the upper 53 bits, so floor(u · C) < C for every C."""
    return (x >> np.uint64(11)).astype(np.float64) * 2.0**-53
