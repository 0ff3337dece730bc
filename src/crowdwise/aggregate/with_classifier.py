"""Consensus of a crowd and a classifier: the classifier's probabilities are each item's prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.aggregate import em
from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.dawid_skene import confusions, lent_by_crowd, maximise
from crowdwise.aggregate.packed import Floats, pack
from crowdwise.aggregate.verdict import habits, verdict
from crowdwise.annotations.conversions import series
from crowdwise.annotations.table import Annotations

_LEAST = 1e-6  # no class is ever ruled out by a classifier that is too sure of itself


def with_classifier(
    annotations: Annotations,
    proba: Floats,
    smoothing: float = 0.25,
    threads: int | None = None,
    gold: NDArray[np.int64] | None = None,
) -> Consensus:
    """Posterior of the true classes given what a classifier and the crowd say.

        M   T[r, c, l] ∝ Σ_i p_i(c) [r gave l to i] + s C K[c, l]
        E   P[i, c] ∝ p_i(c) Π_l T[r(l), c, l]

    One step of each: the confusions are read from the classifier alone, so that no label
    vouches for itself. Items without labels keep the classifier's probabilities.

    Args:
        proba: (N, C) the classifier's probabilities along item_ids.
        smoothing: labels per cell that the crowd's pooled confusion lends each annotator.
        gold: (N,) classes of items whose answer is known for certain, -1 elsewhere: they take
            the place of p_i, and no label outweighs them.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], ["ann", "bob", "ann"], [0, 1, 1])
        >>> with_classifier(crowd, np.array([[0.9, 0.1], [0.2, 0.8]])).labels.tolist()
        [0, 1]
    """
    packed = pack(annotations, threads)
    prior = np.clip(proba, _LEAST, 1.0)
    prior /= prior.sum(axis=1, keepdims=True)
    if gold is not None:
        prior[gold >= 0] = np.eye(packed.n_classes)[gold[gold >= 0]]
    given = prior[packed.labelled]
    counts = em.counts_of(packed, given)
    model = maximise(counts, lent_by_crowd(counts.counts, packed.n_classes, smoothing), smoothing)
    said = np.empty_like(given)  # log Π_l T[r(l), c, l]
    for block in packed.blocks:
        said[block.start : block.stop] = block.codes @ model.log_table
    with np.errstate(divide="ignore"):  # gold rules the other classes out
        log_rows = said + np.log(given)
    rows = np.exp(log_rows - log_rows.max(axis=1, keepdims=True))
    rows /= rows.sum(axis=1, keepdims=True)
    everything = prior.copy()
    everything[packed.labelled] = rows
    pooled = counts.counts.reshape(-1, packed.n_classes, packed.n_classes).sum(axis=0).T
    seen = habits(packed, log_rows, model.log_table, pooled)
    answer = consensus(
        "with-classifier",
        annotations,
        packed,
        rows,
        em.counts_of(packed, rows),
        confusions=confusions(model, packed.n_classes),
    )
    codes = everything.argmax(axis=1).astype(np.int32)
    return replace(
        answer,
        proba=everything,
        codes=codes,
        labels=annotations.classes[codes],
        annotators=verdict(annotations, seen, answer.annotators),
        extras={"crowd": (said + np.log(given.mean(axis=0).clip(_LEAST))).argmax(axis=1)},
    )


def item_table(
    answer: Consensus,
    annotations: Annotations,
    proba: Floats,
    gold: NDArray[np.int64] | None = None,
) -> pl.DataFrame:
    """One row per item: the consensus, the votes, and whose word it is.

    `classifier` and `crowd` are what each says by itself (the crowd by its labels and its
    confusions), `decided_by` is how they combine: agreement, classifier, crowd, both (neither's
    own word) or gold.

    Args:
        answer: of `with_classifier`.
        proba: (N, C) what the classifier says by itself.
        gold: as `with_classifier` takes it.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], ["ann", "bob", "ann"], [0, 1, 1])
        >>> proba = np.array([[0.9, 0.1], [0.2, 0.8]])
        >>> table = item_table(with_classifier(crowd, proba), crowd, proba)
        >>> table.select("votes", "agreement", "classifier", "decided_by").rows()
        [(2, 0.5, 0, 'agreement'), (1, 1.0, 1, 'agreement')]
    """
    votes = np.bincount(annotations.item, minlength=annotations.n_items)
    same = annotations.label == answer.codes[annotations.item]
    agreeing = np.bincount(annotations.item[same], minlength=annotations.n_items)
    share = np.divide(agreeing, votes, out=np.full(len(votes), np.nan), where=votes > 0)
    own = proba.argmax(axis=1)
    crowd = np.full(len(votes), -1)
    crowd[votes > 0] = answer.extras["crowd"]
    by = np.select(
        [own == crowd, own == answer.codes, crowd == answer.codes],
        ["agreement", "classifier", "crowd"],
        "both",
    )
    if gold is not None:
        by[gold >= 0] = "gold"
    names, frame = series(annotations.classes), answer.to_frame()
    return frame.select(
        *frame.columns[:3],
        pl.Series("votes", votes),
        pl.Series("agreement", share, nan_to_null=True),
        names.gather(own).alias("classifier"),
        pl.Series("classifier_probability", proba.max(axis=1)),
        pl.when(pl.Series(votes > 0)).then(names.gather(crowd.clip(0))).alias("crowd"),
        pl.Series("decided_by", by),
        *frame.columns[3:],
    )
