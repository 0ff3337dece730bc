"""An aggregation as plain numbers, for the terminal and for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.aggregate.consensus import Consensus
from crowdwise.annotations.table import Annotations


def summarise(
    consensus: Consensus, annotations: Annotations, known: NDArray[np.int64] | None = None
) -> dict[str, Any]:
    """Sizes, convergence, agreement with the votes, and accuracy where the truth is known.

    Args:
        known: (N,) true codes as `truth_codes` gives them: -1 where unknown.
    """
    answer = consensus.codes
    counts = np.bincount(answer, minlength=annotations.n_classes).tolist()
    names = map(str, annotations.classes.tolist())
    summary: dict[str, Any] = {
        "method": consensus.method,
        "labels": len(annotations),
        "items": annotations.n_items,
        "annotators": annotations.n_annotators,
        "classes": annotations.n_classes,
        "steps": consensus.steps,
        "converged": consensus.converged,
        "objective": consensus.history.tolist(),
        "labels_like_consensus": float((answer[annotations.item] == annotations.label).mean()),
        "consensus": dict(zip(names, counts, strict=True)),
    }
    if known is not None:
        asked = known >= 0
        summary["items_with_truth"] = int(asked.sum())
        summary["accuracy"] = float((answer == known)[asked].mean()) if asked.any() else None
    return summary
