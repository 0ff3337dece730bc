"""Grouped Dawid-Skene: annotators cluster, and their confusions are pulled toward their group's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdwise.aggregate import em
from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.dawid_skene import confusions, lent_by_crowd, shares
from crowdwise.aggregate.options import Iterative
from crowdwise.aggregate.packed import Floats, Packed, pack
from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError


@dataclass(frozen=True)
class GroupedOptions(Iterative):
    n_groups: int = 2
    smoothing: float = 1.0  # labels per cell of a confusion matrix lent by the group


@dataclass(frozen=True)
class Grouped(em.Model):
    group: NDArray[np.int64]  # (R,)
    centres: Floats  # (G, label, class)


def grouped_dawid_skene(annotations: Annotations, options: GroupedOptions) -> Consensus:
    """Dawid-Skene whose prior is learnt: with k = sC, EM climbs

        F = log p(labels | T, p) - k Σ_r Σ_c KL(M[g(r), c] ‖ T[r, c])

    by one block of parameters at a time, each in closed form:

        M   T[r, c] ∝ counts[r, c] + k M[g(r), c]
            M[g, c] ∝ exp( mean over r in g of log T[r, c] )
            g(r) = argmin_g Σ_c KL(M[g, c] ‖ T[r, c])

    The groups start as equal parts of the annotators ordered by agreement with the votes.
    """
    if options.smoothing == 0:
        raise InputError(
            "grouped-dawid-skene: smoothing=0 would leave the groups without effect; "
            "choose method='dawid-skene' with smoothing=0, or give a number above 0"
        )
    packed = pack(annotations, options.threads)
    n_classes, smoothing = packed.n_classes, options.smoothing
    strength = smoothing * n_classes

    def update(expected: em.Expected, model: Grouped | None) -> Grouped:
        counts = expected.counts.reshape(-1, n_classes, n_classes)  # (R, label, class)
        group, centres = (
            _start(packed, expected, options) if model is None else (model.group, model.centres)
        )
        table = counts + strength * centres[group]
        log_table = np.log(table / table.sum(axis=1, keepdims=True))
        if model is not None:
            centres = _centres(log_table, group, centres)
            group = _distances(log_table, centres).argmin(axis=1)
        away = _distances(log_table, centres)[np.arange(len(group)), group].sum()
        log_shares = shares(expected.totals, smoothing)
        penalty = smoothing * log_shares.sum() - strength * away
        flat = log_table.reshape(-1, n_classes)
        return Grouped(flat, log_shares, float(penalty), group, centres)

    fit = em.run(packed, update, options.max_iterations, options.tolerance)
    return consensus(
        "grouped-dawid-skene",
        annotations,
        packed,
        fit.proba,
        fit.expected,
        confusions=confusions(fit.model, n_classes),
        history=fit.history,
        steps=len(fit.history),
        converged=fit.converged,
        columns={"group": fit.model.group},
        extras={"group_confusions": fit.model.centres.transpose(0, 2, 1)},
    )


def _start(
    packed: Packed, votes: em.Expected, options: GroupedOptions
) -> tuple[NDArray[np.int64], Floats]:
    """Groups by rank of agreement with the votes; centres from each group's pooled counts."""
    n_classes = packed.n_classes
    counts = votes.counts.reshape(-1, n_classes, n_classes)
    prior = lent_by_crowd(votes.counts, n_classes, options.smoothing)
    right, given = np.einsum("rcc->r", counts), counts.sum(axis=(1, 2))
    average = right.sum() / given.sum()
    agreement = (right + n_classes * average) / (given + n_classes)
    n_groups = min(options.n_groups, packed.n_annotators)
    rank = np.argsort(np.argsort(agreement, kind="stable"), kind="stable")
    group = (rank * n_groups // packed.n_annotators).astype(np.int64)
    centres = np.stack([counts[group == g].sum(axis=0) + prior for g in range(n_groups)])
    return group, centres / centres.sum(axis=1, keepdims=True)


def _centres(log_table: Floats, group: NDArray[np.int64], before: Floats) -> Floats:
    """(G, label, class): each group's normalised geometric mean; an empty group stays put."""
    centres = before.copy()
    for g in range(len(centres)):
        if (group == g).any():
            mean = np.exp(log_table[group == g].mean(axis=0))
            centres[g] = mean / mean.sum(axis=0)
    return centres


def _distances(log_table: Floats, centres: Floats) -> Floats:
    """(R, G): Σ_c KL(centre of g, class c ‖ table of r, class c)."""
    entropy = (centres * np.log(centres)).sum(axis=(1, 2))  # (G,)
    n_annotators = len(log_table)
    cross = log_table.reshape(n_annotators, -1) @ centres.reshape(len(centres), -1).T
    return np.asarray(entropy - cross)
