"""The true confusion matrix of each annotator, and how far apart two annotators are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdwise.annotations.known import Truth, truth_codes
from crowdwise.annotations.table import Annotations


def true_confusions(
    annotations: Annotations, truth: Truth, annotators: ArrayLike | None = None
) -> NDArray[np.float64]:
    """What each annotator makes of each true class: the paper's CM, (R, C, C).

    CM[r, p, q] is the share of r's labels on items of true class p that say q, and row p is zero
    where r saw no such item. Items without truth, and items whose true class nobody ever named,
    have no row and are left out.

    Args:
        annotations: the crowd's table.
        truth: a mapping from item id to true label, or the true labels along `item_ids`.
        annotators: the codes of the annotators wanted, in that order; all when None.

    Example:
        >>> crowd = Annotations.from_triples([0, 1, 2], ["ann"] * 3, ["cat", "dog", "dog"])
        >>> true_confusions(crowd, {0: "cat", 1: "cat", 2: "dog"}).tolist()
        [[[0.5, 0.5], [0.0, 1.0]]]
    """
    n_classes = annotations.n_classes
    true_class = truth_codes(annotations, truth)[annotations.item]  # (L,)
    row_of = np.full(annotations.n_annotators, -1, dtype=np.int64)
    wanted = np.arange(annotations.n_annotators) if annotators is None else np.asarray(annotators)
    row_of[wanted] = np.arange(len(wanted))
    row = row_of[annotations.annotator]  # (L,)

    counted = (true_class >= 0) & (true_class < n_classes) & (row >= 0)
    cell = (row[counted] * n_classes + true_class[counted]) * n_classes + annotations.label[counted]
    counts = np.bincount(cell, minlength=len(wanted) * n_classes**2)
    counts = counts.reshape(len(wanted), n_classes, n_classes)
    seen = counts.sum(axis=2, keepdims=True)
    shares: NDArray[np.float64] = counts / np.maximum(seen, 1)
    return shares


def confusion_distances(confusions: ArrayLike) -> NDArray[np.float64]:
    """The mean squared difference between every two confusion matrices, (R, R).

    With rows flattened to x_r in C² dimensions, |x_r - x_s|² = |x_r|² + |x_s|² - 2 x_r·x_s: one
    matrix product instead of R² differences.

    Args:
        confusions: (R, C, C), as `true_confusions` gives them.

    Example:
        >>> confusion_distances([[[1, 0], [0, 1]], [[0, 1], [1, 0]]]).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    matrices = np.asarray(confusions, dtype=np.float64)
    flat = matrices.reshape(len(matrices), matrices.shape[1] * matrices.shape[2])  # (R, C²)
    products = flat @ flat.T
    squares = np.diagonal(products)
    squared = squares[:, None] + squares[None, :] - 2 * products
    # Rounding may leave a tiny negative, or a tiny distance from oneself.
    distances = np.maximum((squared + squared.T) / 2, 0) / max(flat.shape[1], 1)
    np.fill_diagonal(distances, 0)
    return distances
