"""One-coin Dawid-Skene: one accuracy per annotator, errors spread evenly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from crowdwise.aggregate import em
from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.dawid_skene import confusions, shares
from crowdwise.aggregate.options import Iterative
from crowdwise.aggregate.packed import Floats, pack
from crowdwise.annotations.table import Annotations

_FLOOR = 1e-10


@dataclass(frozen=True)
class OneCoinOptions(Iterative):
    smoothing: float = 2.0  # labels of the crowd's average accuracy lent to each annotator


def one_coin(annotations: Annotations, options: OneCoinOptions) -> Consensus:
    """Dawid-Skene with T[r, c, l] = a_r where l = c, and (1 - a_r) / (C - 1) elsewhere.

        M   a_r = (Σ_i Σ_c P[i, c] [r gave c to i] + s ā) / (n_r + s)

    ā, the crowd's agreement with its votes, is held fixed, so EM climbs the log posterior.
    """
    packed = pack(annotations, options.threads)
    n_classes, smoothing = packed.n_classes, options.smoothing
    average: float | None = None

    def update(expected: em.Expected, _: em.Model | None) -> em.Model:
        nonlocal average
        cube = expected.counts.reshape(-1, n_classes, n_classes)
        right, given = np.einsum("rcc->r", cube), cube.sum(axis=(1, 2))
        if average is None:  # the first sums are those of the votes
            average = float(right.sum() / given.sum())
        accuracy = (right + smoothing * average) / np.maximum(given + smoothing, _FLOOR)
        log_table = log_one_coin(accuracy, n_classes)
        log_shares = shares(expected.totals, smoothing / n_classes)
        penalty = 0.0
        if smoothing > 0:
            lent = xlogy(average, accuracy) + xlogy(1 - average, 1 - accuracy)
            penalty = smoothing * float(lent.sum() + log_shares.sum() / n_classes)
        return em.Model(log_table, log_shares, penalty)

    fit = em.run(packed, update, options.max_iterations, options.tolerance)
    return consensus(
        "one-coin",
        annotations,
        packed,
        fit.proba,
        fit.expected,
        confusions=confusions(fit.model, n_classes),
        history=fit.history,
        steps=len(fit.history),
        converged=fit.converged,
    )


def log_one_coin(accuracy: Floats, n_classes: int) -> Floats:
    """(K, C) log table of annotators that are right with probability `accuracy` (R,)."""
    wrong = (1 - accuracy) / max(n_classes - 1, 1)
    table = np.where(np.eye(n_classes) > 0, accuracy[:, None, None], wrong[:, None, None])
    return np.asarray(np.log(np.maximum(table, _FLOOR)).reshape(-1, n_classes))
