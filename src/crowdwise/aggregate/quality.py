"""How good each annotator is: accuracy, bias, and the cost score that tells bias from noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.aggregate.packed import Floats


def quality(
    counts: Floats, shares: Floats, confusions: Floats | None = None
) -> dict[str, NDArray[Any]]:
    """The annotators' columns, NaN without labels: accuracy, corrected_accuracy, bias, cost.

    With shares p and confusion T of an annotator, a label l stands for the soft label
    q(c | l) ∝ p(c) T(c, l). An annotator who always swaps two classes is biased, yet loses
    nothing; one who answers at random leaves q = p whatever they say:

        accuracy            share of the annotator's labels that are right, as expected
        corrected_accuracy  Σ_l max_c p(c) T(c, l): after each label is read as what it stands for
        bias                ½ Σ_l |Σ_c p(c) T(c, l) - p(l)|: labels given too often for their share
        cost                Σ_l p(l) (1 - Σ_c q(c | l)²) / (1 - Σ_c p(c)²): 0 perfect, 1 spammer

    The cost is the score of Ipeirotis, Provost and Wang (2010) for equal misclassification
    costs, divided by what a spammer scores.

    Args:
        counts: (R, C, C) expected labels, rows = true class, columns = label given.
        shares: (C,) class shares.
        confusions: (R, C, C); from the counts, smoothed, where the method has none.

    Example:
        >>> swaps = np.array([[[0.0, 50.0], [50.0, 0.0]]])
        >>> columns = quality(swaps, np.array([0.5, 0.5]), swaps / 50)
        >>> float(columns["accuracy"][0]), float(columns["cost"][0])
        (0.0, 0.0)
    """
    given = counts.sum(axis=(1, 2))  # (R,)
    some = given > 0.5
    if confusions is None:
        confusions = smoothed(counts)
    joint = confusions * shares[:, None]  # (R, C, C): p(c) T(c, l)
    of_label = joint.sum(axis=1)  # (R, C): p(l)
    squares = np.divide(
        (joint**2).sum(axis=1), of_label, out=np.zeros_like(of_label), where=of_label > 0
    )
    spammer = 1.0 - float((shares**2).sum())
    cost = (of_label - squares).sum(axis=1) / spammer if spammer > 0 else np.zeros(len(given))
    right = np.einsum("rcc->r", counts)
    accuracy = np.divide(right, given, out=np.full(len(given), np.nan), where=some)
    return {
        "labels": np.rint(given).astype(np.int64),
        "accuracy": accuracy.clip(max=1.0),
        "corrected_accuracy": np.where(some, joint.max(axis=1).sum(axis=1), np.nan).clip(max=1.0),
        "bias": np.where(some, np.abs(of_label - shares).sum(axis=1) / 2, np.nan),
        "cost": np.where(some, cost, np.nan),
    }


def smoothed(counts: Floats, weight: float = 1.0) -> Floats:
    """(R, C, C) counts as confusions, each row given `weight` labels shaped like the crowd's."""
    crowd = counts.sum(axis=0) + 0.1
    crowd /= crowd.sum(axis=1, keepdims=True)
    confusions = counts + weight * crowd
    return np.asarray(confusions / confusions.sum(axis=2, keepdims=True))
