"""What a trained classifier and its crowd say about items and annotators, as tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray
from torch import Tensor

from crowdwise.aggregate.with_classifier import item_table, with_classifier
from crowdwise.annotations import Annotations
from crowdwise.methods.base import Method
from crowdwise.report.html_tables import label_table


class Stock(NamedTuple):
    """The tables of a run folder, and the confusions (R, C, C) beside the annotators."""

    frames: dict[str, pl.DataFrame]
    confusions: NDArray[Any]


def take_stock(
    model: Method,
    annotations: Annotations,
    proba: NDArray[np.float64],
    gold: NDArray[np.int64] | None = None,
) -> Stock:
    """Consensus, annotators, labels and confusions, as people read them.

    Args:
        proba: (N, C) what the trained model says of each item.
        gold: (N,) classes known for certain, -1 elsewhere.
    """
    together = with_classifier(annotations, proba, gold=gold)
    confusions, groups = model.confusions(), model.groups()
    annotators = together.annotators
    if groups is not None:
        annotators = annotators.with_columns(pl.Series("group", as_numpy(groups)))
    frames = {
        "consensus": item_table(together, annotations, proba, gold),
        "annotators": annotators,
        "labels": label_table(annotations),
    }
    known = together.confusions if confusions is None else as_numpy(confusions)
    return Stock(frames, np.asarray(known))


def as_kind(frame: pl.DataFrame, kind: str) -> Any:
    """A frame of the kind the annotations came in."""
    if kind == "polars":
        return frame
    columns = {column.name: column.to_list() for column in frame}
    return nw.from_dict(columns, backend=kind).to_native()  # type: ignore[arg-type]


def as_numpy(tensor: Tensor) -> NDArray[Any]:
    """A tensor of any device as an array."""
    return tensor.cpu().numpy()
