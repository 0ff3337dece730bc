"""Truth inference where each process holds the labels of some of the items.

The E-step is each item's own business; the M-step needs sums over items only. So every process
keeps its items, and what travels is the annotators' counts, (R · C², once a step).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.aggregate.consensus import Consensus
from crowdwise.aggregate.packed import Total, shared
from crowdwise.aggregate.registry import METHODS, aggregate
from crowdwise.aggregate.summary import summarise
from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError

METHODS_IN_SHARES = tuple(name for name in METHODS if name != "glad")  # its steps sum by label


def aggregate_share(
    annotations: Annotations, total: Total, method: str = "dawid-skene", **options: Any
) -> Consensus:
    """`aggregate` on one share: posteriors of its items, annotators as the whole table has them.

    Ties of the majority method are drawn within a share; posteriors are the single process's.

    Args:
        annotations: the labels of some items, in everybody's codes.
        total: an array in, its sum over all processes out.
    """
    if method in METHODS and method not in METHODS_IN_SHARES:
        raise InputError(
            f"{method} runs in one process only; choose one of {', '.join(METHODS_IN_SHARES)}"
        )
    if len(annotations) == 0:
        raise InputError("a process got no label at all; the table is too small for so many")
    with shared(total):
        return aggregate(annotations, method, **options)


def summarise_share(
    consensus: Consensus,
    annotations: Annotations,
    exchange: Callable[[Any], list[Any]],
    known: NDArray[np.int64] | None = None,
) -> dict[str, Any]:
    """`summarise` of the whole table, from every share's."""
    own = summarise(consensus, annotations, known)
    every = exchange(own)
    labels = [each["labels"] for each in every]
    same = sum(each["labels_like_consensus"] * each["labels"] for each in every)
    whole = {
        **own,
        "labels": sum(labels),
        "items": sum(each["items"] for each in every),
        "labels_like_consensus": same / sum(labels),
        "consensus": {name: sum(e["consensus"][name] for e in every) for name in own["consensus"]},
    }
    if known is not None:
        asked = sum(each["items_with_truth"] for each in every)
        right = sum((each["accuracy"] or 0.0) * each["items_with_truth"] for each in every)
        whole |= {"items_with_truth": asked, "accuracy": right / asked if asked else None}
    return whole
