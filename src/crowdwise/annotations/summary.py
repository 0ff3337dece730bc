"""A crowd in one small dictionary of plain numbers: what `crowdwise inspect` prints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.annotations import stats
from crowdwise.annotations.known import Truth, truth_codes
from crowdwise.annotations.table import Annotations

FEW = 20  # labels; at most so many teach little about an annotator


def summarise(annotations: Annotations, truth: Truth | None = None) -> dict[str, Any]:
    """Sizes, balance, agreement and, with truth, noise; None for what is not defined.

    Args:
        annotations: the crowd's table.
        truth: a mapping from item id to true label, or the true labels along `item_ids`.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1, 1], list("abab"), [1, 0, 0, 0])
        >>> summary = summarise(crowd, {0: 1, 1: 1})
        >>> summary["labels"], summary["truth"]["nr1"], summary["truth"]["nr2"]
        (4, 0.5, 0.75)
    """
    per_annotator = stats.labels_per_annotator(annotations)
    few = int((per_annotator <= FEW).sum())
    votes = np.bincount(annotations.label, minlength=annotations.n_classes)
    summary: dict[str, Any] = {
        "items": annotations.n_items,
        "annotators": annotations.n_annotators,
        "labels": len(annotations),
        "classes": annotations.n_classes,
        "labels_per_annotator": _spread(per_annotator)
        | {"at_most_20": few, "share_at_most_20": few / max(annotations.n_annotators, 1)},
        "labels_per_item": _spread(stats.labels_per_item(annotations)),
        "class_balance": [
            {"class": name, "labels": count, "share": share}
            for name, count, share in zip(
                annotations.classes.tolist(),
                votes.tolist(),
                stats.class_balance(annotations).tolist(),
                strict=True,
            )
        ],
        "label_agreement": _defined(stats.label_agreement(annotations)),
        "krippendorff_alpha": _defined(stats.krippendorff_alpha(annotations)),
        "repeats_dropped": annotations.repeats_dropped,
        "conflicts_settled": annotations.conflicts_settled,
    }
    if truth is not None:
        summary["truth"] = _against(annotations, truth)
    return summary


def _against(annotations: Annotations, truth: Truth) -> dict[str, Any]:
    true_class = truth_codes(annotations, truth)  # (N,)
    nr1, nr2 = stats.noise_rates(annotations, truth)
    accuracy = stats.annotator_accuracy(annotations, truth)
    judged = accuracy[~np.isnan(accuracy)]
    return {
        "items": int((true_class >= 0).sum()),
        "labels": int((true_class[annotations.item] >= 0).sum()),
        "items_of_classes_nobody_named": int((true_class == annotations.n_classes).sum()),
        "nr1": _defined(nr1),
        "nr2": _defined(nr2),
        "annotators": len(judged),
        "annotator_accuracy": _spread(judged),
    }


def _spread(values: NDArray[Any]) -> dict[str, float | int | None]:
    if not len(values):
        return dict.fromkeys(("min", "median", "mean", "max"))
    return {
        "min": values.min().item(),
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "max": values.max().item(),
    }


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else value
