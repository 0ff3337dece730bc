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
from crowdwise.annotations.table import Annotations


@dataclass(frozen=True, eq=False)
class Consensus:
    """The crowd's answer, and what was learnt about the crowd on the way."""

    method: str
    item_ids: NDArray[Any]  # (N,)
    classes: NDArray[Any]  # (C,)
    labels: NDArray[Any]  # (N,) class values
    proba: Floats  # (N, C)
    annotators: pl.DataFrame  # one row per annotator
    confusions: Floats | None  # (R, C, C), rows = true class, columns = label given
    history: Floats  # objective per step; empty where the method has none
    steps: int
    converged: bool
    extras: dict[str, Any] = field(default_factory=dict)  # what only this method has

    def to_frame(self) -> pl.DataFrame:
        """One row per item: item, label, probability of that label, `p_<class>` per class."""
        best = self.proba[np.arange(len(self.labels)), _codes(self.labels, self.classes)]
        columns: dict[str, Any] = {
            "item": self.item_ids,
            "label": self.labels,
            "probability": best,
        }
        for code, name in enumerate(self.classes.tolist()):
            columns[f"p_{name}"] = self.proba[:, code]
        return pl.DataFrame({name: _plain(column) for name, column in columns.items()})


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
    frame: dict[str, Any] = {"annotator": annotations.annotator_ids}
    frame |= quality(counts, shares, confusions) | (columns or {})
    return Consensus(
        method,
        annotations.item_ids,
        annotations.classes,
        np.asarray(annotations.classes)[codes],
        proba,
        pl.DataFrame({name: _plain(column) for name, column in frame.items()}, nan_to_null=True),
        confusions,
        np.zeros(0) if history is None else history,
        steps,
        converged,
        extras or {},
    )


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, labels, sorter=order)])


def _plain(column: NDArray[Any]) -> Any:
    """Polars reads numbers from arrays as they are, and strings from lists."""
    return column if column.dtype.kind in "iufb" else column.tolist()
