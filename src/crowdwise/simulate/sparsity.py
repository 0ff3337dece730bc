"""Who labels what: one weight per annotator, and k annotators per item drawn by weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdwise.errors import InputError
from crowdwise.simulate.hashing import bits, generator, key, uniform

Weights = NDArray[np.float64]
Codes = NDArray[np.int32]

# Beta(a, b) fitted to labels per annotator of real crowds; docs/simulate.md has the fit.
TAILS: dict[str, tuple[float, float]] = {
    "paper": (1.5, 3.0),
    "heavy": (0.2, 1.5),
    "labelme": (0.9, 10.0),
    "music": (0.25, 3.0),
    "cifar10n": (0.5, 10.0),
}

_ATTEMPTS = 16  # draws per place before an item is settled by the race
_RACE_CELLS = 1 << 20  # entries of the largest block of arrival times


def weights(n_annotators: int, beta: tuple[float, float], seed: int) -> Weights:
    """Draw one weight per annotator from Beta(a, b). (R,)"""
    a, b = beta
    if not (a > 0 and b > 0 and np.isfinite([a, b]).all()):
        raise InputError(f"beta {beta}: both numbers must be positive, like (1.5, 3)")
    drawn = generator(seed, "weights").beta(a, b, n_annotators)
    return np.maximum(drawn, 1e-300)  # a tiny a underflows to 0, and 0 is no weight


@dataclass(frozen=True)
class Selection:
    """Draws k different annotators per item, each next one with probability proportional to weight.

    Taking the k smallest of Exp(1)/w (a race) is successive sampling without replacement: the
    winner is r with probability w_r / Σw, and by memorylessness the rest race on as if new.
    Drawing r with probability w_r / Σw again and again and passing over repeats gives the same
    sequence at O(k log R) per item, so this is what is done; an item that meets a repeat
    _ATTEMPTS times in a row is finished by the race among the annotators it has not drawn yet,
    which is exact because the draws so far say nothing about the next one. Places beyond a
    quarter of the annotators, where repeats are the rule, go to the race at once.

    An item's annotators depend on (seed, item) alone, and its first k of k + 1 are those of k.
    """

    weight: Weights  # (R,)
    k: int
    seed: int

    def __call__(self, item: NDArray[np.int64]) -> Codes:
        """Return the annotators of each item, in the order drawn. (n, k)"""
        share = np.cumsum(self.weight)
        share /= share[-1]
        draws = key(self.seed, "selection")
        chosen = np.full((len(item), self.k), -1, dtype=np.int32)
        unsettled = np.zeros(len(item), dtype=bool)
        for place in range(self.k):
            open_rows = np.flatnonzero(~unsettled)
            if place > len(self.weight) // 4:
                unsettled[open_rows] = True
                break
            for attempt in range(_ATTEMPTS):
                u = uniform(bits(draws, item[open_rows], place * _ATTEMPTS + attempt))
                drawn = np.searchsorted(share, u, side="right").astype(np.int32)
                repeat = (chosen[open_rows, :place] == drawn[:, None]).any(axis=1)
                chosen[open_rows[~repeat], place] = drawn[~repeat]
                open_rows = open_rows[repeat]
                if not len(open_rows):
                    break
            unsettled[open_rows] = True
        self._race(item, chosen, np.flatnonzero(unsettled))
        return chosen

    def _race(self, item: NDArray[np.int64], chosen: Codes, rows: NDArray[np.intp]) -> None:
        """Fill the open places of these rows with the first to arrive of those not yet chosen."""
        clock = key(self.seed, "race")
        everyone = np.arange(len(self.weight))
        step = max(1, _RACE_CELLS // len(self.weight))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            u = uniform(bits(clock, item[block, None], everyone[None, :]))
            arrival = -np.log1p(-u) / self.weight  # (block, R), block · R ≤ _RACE_CELLS
            held = chosen[block]
            inside, place = np.nonzero(held >= 0)
            arrival[inside, held[inside, place]] = -1.0
            first = np.argsort(arrival, axis=1)[:, : self.k]
            places_held = (held >= 0).sum(axis=1)
            later = np.arange(self.k)[None, :] >= places_held[:, None]
            chosen[block] = np.where(later, first, held)
