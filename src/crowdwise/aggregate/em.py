"""Expectation-maximisation for every model of the form  p(c) · Π_l p(label_l | annotator_l, c)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from crowdwise.aggregate.packed import Block, Floats, Packed


@dataclass(frozen=True)
class Model:
    """What the E-step needs: logarithms of the label probabilities and of the class shares."""

    log_table: Floats  # (K, C): log p(the code's label | the code's annotator, true class)
    log_shares: Floats  # (C,)
    log_penalty: float  # log density of the parameters under their prior, up to a constant


M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Expected:
    """What the M-step needs, summed over the posteriors of all labelled items."""

    counts: Floats  # (K, C): expected number of times a code was given to an item of a class
    totals: Floats  # (C,): expected number of items per class
    log_likelihood: float


@dataclass(frozen=True)
class Fit(Generic[M]):
    """Where EM ended."""

    proba: Floats  # (labelled items, C)
    model: M
    expected: Expected
    history: Floats  # (steps,): log likelihood plus log penalty at each E-step
    converged: bool


def run(
    packed: Packed,
    update: Callable[[Expected, M | None], M],
    max_iterations: int,
    tolerance: float,
) -> Fit[M]:
    """EM from the vote shares until the objective gains less than `tolerance` per label.

    `update` is the M-step: sums and previous model in, next model out.
    `max_iterations` counts E-steps.
    """
    model = update(vote_counts(packed), None)
    history: list[float] = []
    converged = False
    while not converged and len(history) < max_iterations - 1:
        expected = expectation(packed, model)
        history.append(expected.log_likelihood + model.log_penalty)
        gain = np.inf if len(history) == 1 else history[-1] - history[-2]
        converged = gain < tolerance * packed.n_labels
        model = update(expected, model)
    proba = np.empty((packed.n_labelled, packed.n_classes))
    expected = expectation(packed, model, proba)
    history.append(expected.log_likelihood + model.log_penalty)
    return Fit(proba, model, expected, np.array(history), converged)


def expectation(packed: Packed, model: Model, proba: Floats | None = None) -> Expected:
    """E-step and the sums of the M-step, in one pass over the labels.

        P[i, c] ∝ p(c) · Π_l p(label_l | annotator_l, c)        over the labels l of item i
        counts[k, c] = Σ_i P[i, c]                              over the items i that got code k

    `proba` (labelled items, C), when given, receives P.
    """
    lowest, lowest_share = model.log_table.min(), model.log_shares.min()

    def work(block: Block) -> tuple[Floats, Floats, float]:
        posterior = block.codes @ model.log_table  # (B, C)
        posterior += model.log_shares
        log_likelihood = 0.0
        # exp(-700) is still a normal float64: where no product of probabilities can be smaller,
        # the usual shift by the row's maximum would change nothing.
        if block.most * lowest + lowest_share < -700:
            top = posterior.max(axis=1)
            posterior -= top[:, None]
            log_likelihood += float(top.sum())
        np.exp(posterior, out=posterior)
        evidence = posterior.sum(axis=1)
        posterior /= evidence[:, None]
        log_likelihood += float(np.log(evidence).sum())
        if proba is not None:
            proba[block.start : block.stop] = posterior
        return block.codes.T @ posterior, posterior.sum(axis=0), log_likelihood

    return _summed(packed, work)


def vote_counts(packed: Packed) -> Expected:
    """The sums of the M-step when every item's posterior is its vote shares: where EM starts."""
    is_label = np.tile(np.eye(packed.n_classes), (packed.n_annotators, 1))  # (K, C)

    def work(block: Block) -> tuple[Floats, Floats, float]:
        shares = block.codes @ is_label
        shares /= np.diff(block.codes.indptr)[:, None]
        return block.codes.T @ shares, shares.sum(axis=0), 0.0

    return _summed(packed, work)


def counts_of(packed: Packed, proba: Floats) -> Expected:
    """The sums of the M-step for given posteriors (labelled items, C)."""

    def work(block: Block) -> tuple[Floats, Floats, float]:
        rows = proba[block.start : block.stop]
        return block.codes.T @ rows, rows.sum(axis=0), 0.0

    return _summed(packed, work)


def _summed(packed: Packed, work: Callable[[Block], tuple[Floats, Floats, float]]) -> Expected:
    counts = np.zeros((packed.n_annotators * packed.n_classes, packed.n_classes))
    totals = np.zeros(packed.n_classes)
    log_likelihood = 0.0
    for block_counts, block_totals, block_log_likelihood in packed.map(work):
        counts += block_counts
        totals += block_totals
        log_likelihood += block_log_likelihood
    if packed.total is None:
        return Expected(counts, totals, log_likelihood)
    parts = packed.total(np.concatenate([counts.ravel(), totals, [log_likelihood]]))
    everybodys, totals = parts[: counts.size].reshape(counts.shape), parts[counts.size : -1]
    return Expected(everybodys, totals, float(parts[-1]))
