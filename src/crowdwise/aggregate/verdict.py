"""What is said about each annotator: accuracy and its interval, bias, and who may be a spammer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.aggregate.packed import Floats, Packed
from crowdwise.aggregate.quality import quality
from crowdwise.aggregate.skill import NODES, skill, weights
from crowdwise.annotations.conversions import series
from crowdwise.annotations.table import Annotations

MARGIN = 0.2  # of the way from answering blindly to perfect: who gets no further tells nothing
DOUBT = 0.05  # chance of having got further below which someone is suspected
COSTLY = 0.7  # cost score of a suspect; someone who swaps classes is wrong, yet costs little
ALIKE = 0.95  # share of one label from which on someone is said to give always the same
ENOUGH = 10  # labels, to say what someone always does
STRONG = 4.0  # standard deviations by which a label is given too often


@dataclass(frozen=True)
class Habits:
    """What each annotator gave, and what the items say of it without that annotator."""

    given: Floats  # (R, C) labels
    counts: Floats  # (R, C, C) of which class the items of each label are: row = class
    evidence: Floats  # (R, NODES + 1), see `skill.weights`


def habits(packed: Packed, log_rows: Floats, log_table: Floats, pooled: Floats) -> Habits:
    """Each label beside its item's posterior with that label left out.

        P_-l[i, c] ∝ p_i(c) Π_{k≠l} T[r(k), c, y_k]
        e_l = q / (q + w),    q = P_-l[i, y_l],    w = Σ_{c≠y_l} P_-l[i, c] W[c, y_l]

    W[c, y] is how often a wrong label for class c is y, in the crowd as a whole.

    Args:
        log_rows: (labelled items, C) log p_i(c) Π_l T[r(l), c, y_l].
        log_table: (R·C, C) log T, by annotator and label.
        pooled: (C, C) confusion of the whole crowd.
    """
    R, C = packed.n_annotators, packed.n_classes
    wrong = pooled * (1 - np.eye(C))
    sums = wrong.sum(axis=1, keepdims=True)
    wrong = np.divide(wrong, sums, out=np.zeros_like(wrong), where=sums > 0)
    given, counts = np.zeros(R * C), np.zeros((R * C, C))
    evidence = np.zeros((R, NODES + 1))
    for block in packed.blocks:
        codes = block.codes.indices
        row = np.repeat(np.arange(block.start, block.stop), np.diff(block.codes.indptr))
        who, label = codes // C, codes % C
        others = log_rows[row] - log_table[codes]  # (L, C)
        others -= others.max(axis=1, keepdims=True)
        np.exp(others, out=others)
        others /= others.sum(axis=1, keepdims=True)
        right = np.take_along_axis(others, label[:, None], axis=1)[:, 0]
        amiss = np.einsum("lc,cl->l", others, wrong[:, label])
        total = right + amiss
        known = np.divide(right, total, out=np.full_like(right, 0.5), where=total > 0)
        given += np.bincount(codes, minlength=R * C)
        for c in range(C):
            counts[:, c] += np.bincount(codes, others[:, c], minlength=R * C)
        evidence += weights(known, who, R)
    by_class = counts.reshape(R, C, C).transpose(0, 2, 1)
    return Habits(given.reshape(R, C), by_class, evidence)


def verdict(annotations: Annotations, seen: Habits, measured: pl.DataFrame) -> pl.DataFrame:
    """The annotators' table with interval, bias, suspicion and reason.

    All of it goes by what is known of the items without the annotator; `measured`, of `quality`,
    gives the other columns.

    Someone is suspected of spam who almost always says the same while their items differ, or
    whose labels hardly tell anything (cost) and are hardly more often right than labels given
    without a look at the item. Few labels are never enough for either.
    """
    labels = seen.given.sum(axis=1)
    some = np.maximum(labels, 1)
    expected = seen.counts.sum(axis=2)  # (R, C) of which class their items are
    share, wanted = seen.given / some[:, None], expected / some[:, None]
    measured = measured.with_columns(
        _column(name, values)
        for name, values in quality(seen.counts, expected.sum(axis=0) / labels.sum()).items()
        if name != "labels"
    )
    blind = (share * wanted).sum(axis=1)  # right by luck, with these habits on these items
    found = skill(seen.evidence, blind + MARGIN * (1 - blind))
    spread = np.sqrt(np.maximum(expected * (1 - wanted), 0.25))
    surplus = (seen.given - expected) / spread
    top = seen.given.argmax(axis=1)
    at = np.arange(len(top)), top
    often = labels >= ENOUGH
    alike = often & (share[at] >= ALIKE) & (surplus[at] >= STRONG)
    cost = measured["cost"].fill_null(0.0).to_numpy()
    blindly = (found.above_bar < DOUBT) & (cost >= COSTLY)
    over = surplus.argmax(axis=1)
    leans = often & (surplus[np.arange(len(over)), over] >= STRONG)
    names = [str(name) for name in annotations.classes.tolist()]
    reasons: list[str | None] = [None] * len(labels)
    for r in np.flatnonzero(alike | blindly | leans).tolist():
        c = int(top[r] if alike[r] else over[r])
        habit = f"says {names[c]} in {share[r, c]:.0%} of {labels[r]:.0f} labels"
        habit += f", about {wanted[r, c]:.0%} of these items are"
        blindness = (
            f"right in {found.low[r]:.0%} to {found.high[r]:.0%} of {labels[r]:.0f} labels, "
            f"{blind[r]:.0%} without looking"
        )
        reasons[r] = "; ".join(
            [habit] * bool(alike[r] or leans[r]) + [blindness] * bool(blindly[r])
        )
    return measured.with_columns(
        _column("accuracy", found.accuracy),
        # labels read as they are: one of the readings that corrected_accuracy chooses from
        _column(
            "corrected_accuracy",
            np.fmax(found.accuracy, measured["corrected_accuracy"].cast(pl.Float64).to_numpy()),
        ),
        _column("accuracy_low", found.low),
        _column("accuracy_high", found.high),
        series(annotations.classes).gather(over).alias("leans_to"),
    ).with_columns(
        pl.when(pl.Series(leans)).then("leans_to").alias("leans_to"),
        pl.Series("suspected_spammer", alike | blindly),
        pl.Series("reason", reasons, pl.String),
    )


def _column(name: str, values: NDArray[Any]) -> pl.Series:
    return pl.Series(name, values, nan_to_null=True)
