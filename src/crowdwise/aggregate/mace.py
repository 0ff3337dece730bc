"""MACE (Hovy et al., 2013): annotators either know, or spam with a habit of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdwise.aggregate import em
from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.dawid_skene import confusions, shares
from crowdwise.aggregate.options import Iterative
from crowdwise.aggregate.packed import Floats, pack
from crowdwise.annotations.table import Annotations

_FLOOR = 1e-10


@dataclass(frozen=True)
class MaceOptions(Iterative):
    smoothing: float = 0.5  # added to each count: knew, spammed, and each label of the spam
    uniform_shares: bool = False  # the paper fixes the class shares at 1/C


@dataclass(frozen=True)
class Mace(em.Model):
    spamming: Floats  # (R,) θ
    habits: Floats  # (R, C) ξ, what the annotator writes when spamming


def mace(annotations: Annotations, options: MaceOptions) -> Consensus:
    """Each label is the truth with probability 1 - θ_r, else drawn from the annotator's habit ξ_r.

        p(l | r, c) = (1 - θ_r) [l = c] + θ_r ξ_r(l)

    That spam went unseen on a right label has probability θ ξ(l) / (1 - θ + θ ξ(l)), which
    depends on annotator and label only; so the sums of the E-step over items are all the M-step
    needs. The start is the majority vote with θ = 1/2, in place of random restarts.
    """
    packed = pack(annotations, options.threads)
    n_classes, smoothing = packed.n_classes, options.smoothing

    def update(expected: em.Expected, model: Mace | None) -> Mace:
        cube = expected.counts.reshape(-1, n_classes, n_classes)  # (R, label, class)
        given = cube.sum(axis=2)  # (R, C)
        right = np.einsum("rcc->rc", cube)  # (R, C)
        if model is None:
            spamming = np.full(packed.n_annotators, 0.5)
            habits = (given + 1) / (given + 1).sum(axis=1, keepdims=True)
        else:
            spamming, habits = model.spamming, model.habits
        spam_said = spamming[:, None] * habits  # (R, C)
        unseen = spam_said / np.maximum(1 - spamming[:, None] + spam_said, _FLOOR)
        spammed = given - right + right * unseen  # (R, C)
        knew = (right * (1 - unseen)).sum(axis=1)
        spamming, habits = _shares_of(spammed, knew, smoothing)
        return _model(spamming, habits, expected.totals, options)

    fit = em.run(packed, update, options.max_iterations, options.tolerance)
    return consensus(
        "mace",
        annotations,
        packed,
        fit.proba,
        fit.expected,
        confusions=confusions(fit.model, n_classes),
        history=fit.history,
        steps=len(fit.history),
        converged=fit.converged,
        columns={"spamming": fit.model.spamming},
        extras={"habits": fit.model.habits},
    )


def _shares_of(spammed: Floats, knew: Floats, smoothing: float) -> tuple[Floats, Floats]:
    total = spammed.sum(axis=1)
    spamming = (total + smoothing) / np.maximum(total + knew + 2 * smoothing, _FLOOR)
    habits = np.maximum(spammed + smoothing, _FLOOR)
    return spamming.clip(_FLOOR, 1 - _FLOOR), habits / habits.sum(axis=1, keepdims=True)


def _model(spamming: Floats, habits: Floats, totals: Floats, options: MaceOptions) -> Mace:
    n_classes = len(totals)
    spam = (spamming[:, None] * habits)[:, :, None]  # (R, label, 1)
    table = spam + (1 - spamming)[:, None, None] * np.eye(n_classes)
    flat = np.zeros(n_classes) if options.uniform_shares else totals
    log_shares = shares(flat, max(options.smoothing, _FLOOR))
    penalty = np.log(spamming).sum() + np.log1p(-spamming).sum() + np.log(habits).sum()
    if not options.uniform_shares:
        penalty += log_shares.sum()
    return Mace(
        np.log(np.maximum(table, _FLOOR)).reshape(-1, n_classes),
        log_shares,
        float(options.smoothing * penalty),
        spamming,
        habits,
    )
