"""Dawid and Skene (1979): a confusion matrix per annotator, by expectation-maximisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdwise.aggregate import em
from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.options import Iterative
from crowdwise.aggregate.packed import Floats, pack
from crowdwise.annotations.table import Annotations

_FLOOR = 1e-10  # of a count or share where nothing is smoothed: keeps the logarithm finite


@dataclass(frozen=True)
class DawidSkeneOptions(Iterative):
    # Labels per cell of a confusion matrix that the crowd lends each annotator; 0: none.
    smoothing: float = 0.25


def dawid_skene(annotations: Annotations, options: DawidSkeneOptions) -> Consensus:
    """Posterior of the true classes under annotators that err each in their own way.

        E   P[i, c] ∝ p(c) Π_l T[r(l), c, l]
        M   T[r, c, l] ∝ Σ_i P[i, c] [r gave l to i] + s C K[c, l],      p(c) ∝ Σ_i P[i, c] + s

    s is `smoothing`, and K the crowd's pooled confusion under majority vote, held fixed: the
    counts of annotators with few labels fall back on the crowd instead of on chance. The
    history is the log posterior; with s = 0 it is the log likelihood.
    """
    packed = pack(annotations, options.threads)
    prior: Floats | None = None

    def update(expected: em.Expected, _: em.Model | None) -> em.Model:
        nonlocal prior
        if prior is None:  # the first sums are those of the votes
            prior = lent_by_crowd(expected.counts, packed.n_classes, options.smoothing)
        return maximise(expected, prior, options.smoothing)

    fit = em.run(packed, update, options.max_iterations, options.tolerance)
    return consensus(
        "dawid-skene",
        annotations,
        packed,
        fit.proba,
        fit.expected,
        confusions=confusions(fit.model, packed.n_classes),
        history=fit.history,
        steps=len(fit.history),
        converged=fit.converged,
    )


def lent_by_crowd(counts: Floats, n_classes: int, smoothing: float) -> Floats:
    """(label, class) pseudo-counts shaped like the crowd's pooled confusion."""
    pooled = counts.reshape(-1, n_classes, n_classes).sum(axis=0) + 0.1
    return np.asarray(smoothing * n_classes * pooled / pooled.sum(axis=0))


def maximise(expected: em.Expected, prior: Floats, smoothing: float) -> em.Model:
    """M-step with pseudo-counts `prior`, (label, class) for all or (R, label, class)."""
    n_classes = len(expected.totals)
    counts = expected.counts.reshape(-1, n_classes, n_classes)  # (R, label, class)
    table = counts + prior
    if smoothing == 0:
        used = counts.sum(axis=2, keepdims=True) > 0  # an annotator who never gives l cannot
        table = np.where(used, np.maximum(table, _FLOOR), 0.0)
    sums = table.sum(axis=1, keepdims=True)
    table = np.divide(table, sums, out=np.full_like(table, 1 / n_classes), where=sums > 0)
    log_table = np.log(np.maximum(table, 1e-20))  # only labels never given are below: never read
    log_shares = shares(expected.totals, smoothing)
    penalty = float((prior * log_table).sum() + smoothing * log_shares.sum())
    return em.Model(log_table.reshape(-1, n_classes), log_shares, penalty)


def shares(totals: Floats, smoothing: float) -> Floats:
    """(C,) logarithms of the class shares, each class given `smoothing` further items."""
    smooth = totals + smoothing
    return np.asarray(np.log(np.maximum(smooth / smooth.sum(), _FLOOR)))


def confusions(model: em.Model, n_classes: int) -> Floats:
    """(R, C, C) with rows = true class and columns = label given."""
    table = np.exp(model.log_table).reshape(-1, n_classes, n_classes)
    return np.asarray(table / table.sum(axis=1, keepdims=True)).transpose(0, 2, 1)
