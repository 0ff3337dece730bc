"""What an aggregation answers: a label and its probabilities per item, a row per annotator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.aggregate.em import Expected
from crowdwise.aggregate.packed import Floats, Packed
from crowdwise.aggregate.quality import quality
from crowdwise.annotations.conversions import series
from crowdwise.annotations.table import Annotations


@dataclass(frozen=True, eq=False)
class Consensus:
    """The crowd's answer, and what was learnt about the crowd on the way."""

    method: str
    item_ids: NDArray[Any]  # (N,)
    classes: NDArray[Any]  # (C,)
    labels: NDArray[Any]  # (N,) class values
    codes: NDArray[np.int32]  # (N,) the same as indices into classes
    proba: Floats  # (N, C)
    annotators: pl.DataFrame  # one row per annotator
    confusions: Floats | None  # (R, C, C), rows = true class, columns = label given
    history: Floats  # objective per step; empty where the method has none
    steps: int
    converged: bool
    extras: dict[str, Any] = field(default_factory=dict)  # what only this method has

    def to_frame(self) -> pl.DataFrame:
        """One row per item: item, label, probability of that label, `p_<class>` per class."""
        columns = {
            "item": series(self.item_ids),
            "label": series(self.classes).gather(self.codes),
            "probability": pl.Series(self.proba[np.arange(len(self.codes)), self.codes]),
        }
        for code, name in enumerate(self.classes.tolist()):
            columns[f"p_{name}"] = pl.Series(self.proba[:, code])
        return pl.DataFrame(columns)


def consensus(
    method: str,
    annotations: Annotations,
    packed: Packed,
    rows: Floats,
    expected: Expected,
    *,
    confusions: Floats | None = None,
    codes: NDArray[np.int32] | None = None,
    history: Floats | None = None,
    steps: int = 1,
    converged: bool = True,
    columns: dict[str, NDArray[Any]] | None = None,
    extras: dict[str, Any] | None = None,
) -> Consensus:
    """Gather a method's result.

    Args:
        rows: (labelled items, C) posteriors; items nobody labelled get the class shares.
        expected: the sums over `rows`, from which the annotators' quality is read.
        codes: (N,) labels where they are not the most probable class (ties drawn at random).
        columns: (R,) further columns of the annotators' frame.
    """
    shares = expected.totals / expected.totals.sum()
    proba = packed.spread(rows, shares)
    if codes is None:
        codes = proba.argmax(axis=1).astype(np.int32)
    shape = (packed.n_annotators, packed.n_classes, packed.n_classes)
    counts = expected.counts.reshape(shape).transpose(0, 2, 1)  # (R, true, given)
    measured = quality(counts, shares, confusions) | (columns or {})
    frame = {"annotator": series(annotations.annotator_ids)} | {
        name: pl.Series(column, nan_to_null=True) for name, column in measured.items()
    }
    return Consensus(
        method,
        annotations.item_ids,
        annotations.classes,
        annotations.classes[codes],
        codes,
        proba,
        pl.DataFrame(frame),
        confusions,
        np.zeros(0) if history is None else history,
        steps,
        converged,
        extras or {},
    )
