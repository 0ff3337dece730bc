"""GLAD (Whitehill et al., 2009): annotators have ability, items have difficulty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.dawid_skene import shares
from crowdwise.aggregate.em import counts_of
from crowdwise.aggregate.options import Iterative
from crowdwise.aggregate.packed import Floats, pack
from crowdwise.aggregate.votes import vote_shares
from crowdwise.annotations.table import Annotations


@dataclass(frozen=True)
class GladOptions(Iterative):
    smoothing: float = 1.0  # pseudo-items per class
    prior: float = 1.0  # precision of the normal priors: ability around 1, log ease around 0


@dataclass(frozen=True)
class _State:
    ability: Floats  # (R,) α
    log_ease: Floats  # (N,) log β: large where everybody is right
    log_shares: Floats  # (C,)


def glad(annotations: Annotations, options: GladOptions) -> Consensus:
    """An annotator is right on an item with probability σ(α_r β_i); errors spread evenly.

        E   P[i, c] ∝ p(c) Π_l σ(α β)^[l = c] ((1 - σ(α β)) / (C - 1))^[l ≠ c]
        M   one guarded Newton step for every α_r, then for every log β_i

    A step that does not raise its own coordinate's objective is halved, then dropped, so the
    log posterior never falls.
    """
    packed = pack(annotations, options.threads)
    proba = vote_shares(annotations)
    state = _State(
        np.ones(annotations.n_annotators),
        np.zeros(annotations.n_items),
        shares(proba[packed.labelled].sum(axis=0), options.smoothing),
    )
    history: list[float] = []
    converged = False
    while not converged and len(history) < options.max_iterations:
        state = _m_step(annotations, packed.labelled, proba, state, options)
        proba, log_likelihood = _e_step(annotations, packed.labelled, state)
        history.append(log_likelihood + _log_prior(state, options))
        gain = np.inf if len(history) == 1 else history[-1] - history[-2]
        converged = bool(gain < options.tolerance * len(annotations))
    rows = proba[packed.labelled]
    return consensus(
        "glad",
        annotations,
        packed,
        rows,
        counts_of(packed, rows),
        history=np.array(history),
        steps=len(history),
        converged=converged,
        columns={"ability": state.ability},
        extras={"difficulty": np.exp(-state.log_ease)},
    )


def _e_step(
    annotations: Annotations, labelled: NDArray[np.bool_], state: _State
) -> tuple[Floats, float]:
    """(N, C) posteriors and the log likelihood."""
    n_items, n_classes = annotations.n_items, annotations.n_classes
    x = state.ability[annotations.annotator] * np.exp(state.log_ease)[annotations.item]
    wrong = _log_sigmoid(-x) - np.log(max(n_classes - 1, 1))
    cell = annotations.item.astype(np.int64) * n_classes + annotations.label
    bonus = np.bincount(cell, _log_sigmoid(x) - wrong, n_items * n_classes)
    logits: Floats = bonus.astype(np.float64, copy=False).reshape(n_items, n_classes)
    logits += np.bincount(annotations.item, wrong, n_items)[:, None] + state.log_shares
    top = logits.max(axis=1, keepdims=True)
    proba = np.exp(logits - top)
    evidence = proba.sum(axis=1, keepdims=True)
    proba /= evidence
    return proba, float((top + np.log(evidence))[labelled].sum())


def _m_step(
    annotations: Annotations,
    labelled: NDArray[np.bool_],
    proba: Floats,
    state: _State,
    options: GladOptions,
) -> _State:
    item, annotator = annotations.item, annotations.annotator
    right = proba[item, annotations.label]  # (L,) probability that the label is right
    n_annotators, n_items = annotations.n_annotators, annotations.n_items

    def expected(x: Floats) -> Floats:
        return np.asarray(right * _log_sigmoid(x) + (1 - right) * _log_sigmoid(-x))

    ease = np.exp(state.log_ease)[item]
    x = state.ability[annotator] * ease
    sigmoid = np.exp(_log_sigmoid(x))
    slope = np.bincount(annotator, (right - sigmoid) * ease, n_annotators)
    bend = np.bincount(annotator, sigmoid * (1 - sigmoid) * ease**2, n_annotators)
    step = (slope - options.prior * (state.ability - 1)) / (bend + options.prior)
    ability = _climb(
        state.ability,
        step,
        lambda a: (
            np.bincount(annotator, expected(a[annotator] * ease), n_annotators)
            - options.prior * (a - 1) ** 2 / 2
        ),
    )

    skill = ability[annotator]
    x = skill * ease
    sigmoid = np.exp(_log_sigmoid(x))
    slope = np.bincount(item, (right - sigmoid) * x, n_items)
    bend = np.bincount(item, sigmoid * (1 - sigmoid) * x**2, n_items)
    step = (slope - options.prior * state.log_ease) / (bend + options.prior)
    log_ease = _climb(
        state.log_ease,
        step,
        lambda b: (
            np.bincount(item, expected(skill * np.exp(b)[item]), n_items) - options.prior * b**2 / 2
        ),
    )
    return _State(ability, log_ease, shares(proba[labelled].sum(axis=0), options.smoothing))


def _climb(value: Floats, step: Floats, objective: Callable[[Floats], Floats]) -> Floats:
    """Per coordinate: the step, or its half, quarter, eighth; none where none helps."""
    here = objective(value)
    step = step.clip(-2, 2)
    for _ in range(4):
        worse = objective(value + step) < here
        if not worse.any():
            return value + step
        step = np.where(worse, step / 2, step)
    return np.asarray(value + np.where(objective(value + step) < here, 0.0, step))


def _log_prior(state: _State, options: GladOptions) -> float:
    away = ((state.ability - 1) ** 2).sum() + (state.log_ease**2).sum()
    return float(options.smoothing * state.log_shares.sum() - options.prior * away / 2)


def _log_sigmoid(x: Floats) -> Floats:
    return np.asarray(-np.logaddexp(0.0, -x))
