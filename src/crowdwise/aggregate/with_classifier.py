"""Consensus of a crowd and a classifier: the classifier's probabilities are each item's prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from crowdwise.aggregate import em
from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.dawid_skene import confusions, lent_by_crowd, maximise
from crowdwise.aggregate.packed import Floats, pack
from crowdwise.annotations.conversions import series
from crowdwise.annotations.table import Annotations

_LEAST = 1e-6  # no class is ever ruled out by a classifier that is too sure of itself


def with_classifier(
    annotations: Annotations, proba: Floats, smoothing: float = 0.25, threads: int | None = None
) -> Consensus:
    """Posterior of the true classes given what a classifier and the crowd say.

        M   T[r, c, l] ∝ Σ_i p_i(c) [r gave l to i] + s C K[c, l]
        E   P[i, c] ∝ p_i(c) Π_l T[r(l), c, l]

    One step of each: the confusions are read from the classifier alone, so that no label
    vouches for itself. Items without labels keep the classifier's probabilities.

    Args:
        proba: (N, C) the classifier's probabilities along item_ids.
        smoothing: labels per cell that the crowd's pooled confusion lends each annotator.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], ["ann", "bob", "ann"], [0, 1, 1])
        >>> with_classifier(crowd, np.array([[0.9, 0.1], [0.2, 0.8]])).labels.tolist()
        [0, 1]
    """
    packed = pack(annotations, threads)
    prior = np.clip(proba, _LEAST, 1.0)
    prior /= prior.sum(axis=1, keepdims=True)
    given = prior[packed.labelled]
    counts = em.counts_of(packed, given)
    model = maximise(counts, lent_by_crowd(counts.counts, packed.n_classes, smoothing), smoothing)
    rows = np.log(given)
    for block in packed.blocks:
        rows[block.start : block.stop] += block.codes @ model.log_table
    rows -= rows.max(axis=1, keepdims=True)
    np.exp(rows, out=rows)
    rows /= rows.sum(axis=1, keepdims=True)
    everything = prior.copy()
    everything[packed.labelled] = rows
    answer = consensus(
        "with-classifier",
        annotations,
        packed,
        rows,
        em.counts_of(packed, rows),
        confusions=confusions(model, packed.n_classes),
    )
    codes = everything.argmax(axis=1).astype(np.int32)
    return replace(answer, proba=everything, codes=codes, labels=annotations.classes[codes])


def item_table(answer: Consensus, annotations: Annotations, proba: Floats) -> pl.DataFrame:
    """One row per item: consensus, how many voted and how many of them agree, and the classifier.

    Args:
        answer: of `with_classifier`.
        proba: (N, C) what the classifier says by itself.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], ["ann", "bob", "ann"], [0, 1, 1])
        >>> proba = np.array([[0.9, 0.1], [0.2, 0.8]])
        >>> table = item_table(with_classifier(crowd, proba), crowd, proba)
        >>> table.select("votes", "agreement", "classifier").rows()
        [(2, 0.5, 0), (1, 1.0, 1)]
    """
    votes = np.bincount(annotations.item, minlength=annotations.n_items)
    same = annotations.label == answer.codes[annotations.item]
    agreeing = np.bincount(annotations.item[same], minlength=annotations.n_items)
    share = np.divide(agreeing, votes, out=np.full(len(votes), np.nan), where=votes > 0)
    frame = answer.to_frame()
    return frame.select(
        *frame.columns[:3],
        pl.Series("votes", votes),
        pl.Series("agreement", share, nan_to_null=True),
        series(annotations.classes).gather(proba.argmax(axis=1)).alias("classifier"),
        *frame.columns[3:],
    )
