"""Weighted majority: votes count by how often their annotator agrees with the outcome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.em import counts_of
from crowdwise.aggregate.options import Iterative
from crowdwise.aggregate.packed import Block, Floats, Packed, pack
from crowdwise.annotations.table import Annotations


@dataclass(frozen=True)
class WeightedOptions(Iterative):
    smoothing: float = 2.0  # labels of average quality added to each annotator
    tolerance: float = 1e-6  # stop when no weight moves by more


def weighted_majority(annotations: Annotations, options: WeightedOptions) -> Consensus:
    """Votes weighted by agreement above chance, until the weights settle.

        a_r = (Σ_l P[i(l), l] + s·ā) / (n_r + s)        expected share of r's labels that are right
        w_r = max(C a_r - 1, 0) / (C - 1)                1 for perfect, 0 for a guesser
        P[i, c] ∝ Σ_l w_r(l) [l = c]                     over the labels of item i

    with ā the crowd's average. An item with votes of weight 0 only keeps its vote shares.
    """
    packed = pack(annotations, options.threads)
    weights = np.ones(packed.n_annotators)
    steps, converged = 0, False
    while not converged and steps < options.max_iterations:
        rows = _shares(packed, weights)
        expected = counts_of(packed, rows)
        before, weights = weights, _weights(packed, expected.counts, options.smoothing)
        steps += 1
        converged = bool(np.abs(weights - before).max() <= options.tolerance)
    return consensus(
        "weighted-majority",
        annotations,
        packed,
        rows,
        expected,
        steps=steps,
        converged=converged,
        columns={"weight": weights},
    )


def _weights(packed: Packed, counts: Floats, smoothing: float) -> Floats:
    n_annotators, n_classes = packed.n_annotators, packed.n_classes
    cube = counts.reshape(n_annotators, n_classes, n_classes)
    right, given = np.einsum("rcc->r", cube), cube.sum(axis=(1, 2))
    average = right.sum() / given.sum()
    # An annotator without labels weighs what the average one does.
    accuracy = (right + smoothing * average) / np.maximum(given + smoothing, 1e-10)
    return np.asarray(np.maximum(n_classes * accuracy - 1, 0) / max(n_classes - 1, 1))


def _shares(packed: Packed, weights: Floats) -> Floats:
    """(labelled items, C) shares of the weighted votes."""
    # So small a weight for everyone decides only where nobody else's does.
    least = np.maximum(weights, 1e-12)
    table = (least[:, None, None] * np.eye(packed.n_classes)).reshape(-1, packed.n_classes)
    rows = np.empty((packed.n_labelled, packed.n_classes))

    def work(block: Block) -> None:
        scores = block.codes @ table
        rows[block.start : block.stop] = scores / scores.sum(axis=1, keepdims=True)

    for _ in packed.map(work):
        pass
    return rows
