"""What a crowd's table says about itself: sizes, balance, noise, agreement, confusions.

Everything here is computed from the observed labels; nothing is dense in items × annotators.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdwise.annotations.agreement import (
    PairAgreement,
    krippendorff_alpha,
    label_agreement,
    pairwise_agreement,
)
from crowdwise.annotations.confusions import confusion_distances, true_confusions
from crowdwise.annotations.known import Truth, truth_codes
from crowdwise.annotations.table import Annotations

__all__ = [
    "PairAgreement",
    "Truth",
    "annotator_accuracy",
    "class_balance",
    "confusion_distances",
    "krippendorff_alpha",
    "label_agreement",
    "labels_per_annotator",
    "labels_per_item",
    "noise_rates",
    "pairwise_agreement",
    "true_confusions",
    "truth_codes",
]


def labels_per_annotator(annotations: Annotations) -> NDArray[np.int64]:
    """How many labels each annotator gave, (R,) along annotator_ids.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], ["ann", "bo", "ann"], ["cat", "dog", "cat"])
        >>> labels_per_annotator(crowd).tolist()
        [2, 1]
    """
    return np.bincount(annotations.annotator, minlength=annotations.n_annotators).astype(np.int64)


def labels_per_item(annotations: Annotations) -> NDArray[np.int64]:
    """How many labels each item got, (N,) along item_ids.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], ["ann", "bo", "ann"], ["cat", "dog", "cat"])
        >>> labels_per_item(crowd).tolist()
        [2, 1]
    """
    return np.bincount(annotations.item, minlength=annotations.n_items).astype(np.int64)


def class_balance(annotations: Annotations) -> NDArray[np.float64]:
    """The share of all labels that name each class, (C,) along classes.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1, 2], list("abab"), [1, 0, 1, 1])
        >>> class_balance(crowd).tolist()
        [0.25, 0.75]
    """
    counts = np.bincount(annotations.label, minlength=annotations.n_classes)
    return counts / max(len(annotations), 1)


def noise_rates(annotations: Annotations, truth: Truth) -> tuple[float, float]:
    """The paper's two noise rates, NR1 and NR2, as shares.

    NR1 is the share of items whose true class nobody named; NR2 the share of labels that are
    wrong. Items without a label or without truth are left out of both.

    Args:
        annotations: the crowd's table.
        truth: a mapping from item id to true label, or the true labels along `item_ids`
            (None or NaN where the truth is not known).

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1, 1], list("abab"), [1, 0, 0, 0])
        >>> noise_rates(crowd, {0: 1, 1: 1})
        (0.5, 0.75)
    """
    true_class = truth_codes(annotations, truth)[annotations.item]  # (L,)
    known = true_class >= 0
    right = true_class == annotations.label
    judged = np.bincount(annotations.item[known], minlength=annotations.n_items) > 0
    rescued = np.bincount(annotations.item[right], minlength=annotations.n_items) > 0
    n_judged, n_known = int(judged.sum()), int(known.sum())
    nr1 = (n_judged - int(rescued.sum())) / n_judged if n_judged else float("nan")
    nr2 = (n_known - int(right.sum())) / n_known if n_known else float("nan")
    return nr1, nr2


def annotator_accuracy(annotations: Annotations, truth: Truth) -> NDArray[np.float64]:
    """The share of each annotator's labels that are right, (R,); NaN where no truth is known.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1, 1], list("abab"), [1, 0, 1, 1])
        >>> annotator_accuracy(crowd, {0: 1, 1: 1}).tolist()
        [1.0, 0.5]
    """
    true_class = truth_codes(annotations, truth)[annotations.item]  # (L,)
    size = annotations.n_annotators
    judged = np.bincount(annotations.annotator[true_class >= 0], minlength=size)
    right = np.bincount(annotations.annotator[true_class == annotations.label], minlength=size)
    accuracy = np.full(size, np.nan)
    np.divide(right, judged, out=accuracy, where=judged > 0)
    return accuracy
