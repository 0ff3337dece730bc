"""The map of groups: how differently annotators err, in the order of their groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.annotations.confusions import confusion_distances
from crowdwise.annotations.stats import labels_per_annotator
from crowdwise.report.figures import leaf_order
from crowdwise.report.html_annotators import packed
from crowdwise.report.html_charts import picture
from crowdwise.report.html_tables import Findings, shown

CELLS = 160  # rows and columns of the map; more annotators than that share cells
GROUPS = 60  # groups with a row of their own in the table
_LEAVES = 300  # at most so many are put in order by clustering, more by their principal axis
_POWERS = 20  # steps of the power iteration towards that axis


def group_map(findings: Findings) -> dict[str, Any] | None:
    """The map as a picture, and what its cells stand for; None for fewer than two annotators.

    A cell is the mean squared difference of the confusion matrices x_r, averaged over all pairs
    of the annotators in bins A and B; no pair is left out:

        D(A, B) = mean_A |x|² + mean_B |x|² - 2 mean_A x · mean_B x
    """
    heard = np.flatnonzero(labels_per_annotator(findings.crowd))
    if len(heard) < 2:
        return None
    group = np.zeros(len(heard), np.int64) if findings.groups is None else findings.groups[heard]
    confusions = np.nan_to_num(findings.confusions[heard])
    order = ordered(confusions, group)
    bins = binned(group[order])
    flat = confusions[order].reshape(len(order), -1)
    distances = mean_distances(flat, bins)
    top = float(distances.max()) or 1.0
    levels = np.rint(255 * distances / top).astype(np.uint8)
    starts = [int(part[0]) for part in bins]
    cells = [int(group[order[start]]) for start in starts]
    return {
        "image": picture(levels),
        "size": len(bins),
        "top": top,
        "annotators": len(heard),
        "silent": findings.crowd.n_annotators - len(heard),
        "grouped": findings.groups is not None,
        "edges": [i for i in range(1, len(bins)) if cells[i] != cells[i - 1]],
        "cells": {
            "levels": packed(distances[None].astype(np.float32) / top, np.ones(1))["cells"],
            "group": cells,
            "annotators": [len(part) for part in bins],
            "name": [shown(findings.annotators["annotator"][int(heard[order[s]])]) for s in starts],
            "top": top,
        },
    }


def group_table(findings: Findings) -> dict[str, Any] | None:
    """One row per group for the page's script: size, labels, accuracy and the mean confusion."""
    groups = findings.groups
    if groups is None:
        return None
    given = labels_per_annotator(findings.crowd)
    heard = given > 0
    size = np.bincount(groups[heard & (groups >= 0)])
    largest = np.argsort(-size, kind="stable")
    kept = largest[size[largest] > 0]
    right = findings.annotators["accuracy"].fill_null(0).fill_nan(0).to_numpy() * given
    rows: dict[str, list[Any]] = {
        name: [] for name in ("group", "annotators", "labels", "accuracy", "mistake")
    }
    means = []
    for g in kept[:GROUPS].tolist():
        members = np.flatnonzero((groups == g) & heard)
        labels = int(given[members].sum())
        mean = np.average(findings.confusions[members], axis=0, weights=given[members])
        means.append(mean)
        rows["group"].append(g)
        rows["annotators"].append(len(members))
        rows["labels"].append(labels)
        rows["accuracy"].append(round(float(right[members].sum() / labels), 4))
        rows["mistake"].append(_mistake(mean, findings.classes))
    matrices = np.stack(means).astype(np.float32) if means else findings.confusions[:0]
    return {
        "values": rows,
        "matrices": packed(matrices, np.array(rows["labels"])),
        "of": len(kept),
    }


def ordered(confusions: NDArray[np.float32], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """An order (R,) in which groups stay together, like beside like within and between them."""
    names = np.unique(group)
    centres = np.stack([confusions[group == g].mean(axis=0) for g in names])
    parts = []
    for g in names[_alike(centres)]:
        members = np.flatnonzero(group == g)
        parts.append(members[_alike(confusions[members])])
    return np.concatenate(parts)


def binned(group: NDArray[np.int64], cells: int = CELLS) -> list[NDArray[np.int64]]:
    """Runs of neighbours, about `cells` of them; none crosses from one group into another.

    Example:
        >>> [part.tolist() for part in binned(np.array([5, 5, 5, 5, 2, 2]), cells=3)]
        [[0, 1], [2, 3], [4, 5]]
    """
    everyone = np.arange(len(group))
    if len(group) <= cells:
        return np.array_split(everyone, len(group))
    runs = np.split(everyone, np.flatnonzero(np.diff(group)) + 1)
    if len(runs) > cells:
        return np.array_split(everyone, cells)
    shares = [max(1, round(cells * len(run) / len(group))) for run in runs]
    return [part for run, n in zip(runs, shares, strict=True) for part in np.array_split(run, n)]


def mean_distances(flat: NDArray[np.float32], bins: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """D (B, B) of the docstring above, from rows (R, C²) in order."""
    starts = [int(part[0]) for part in bins]
    size = np.array([len(part) for part in bins])
    means = np.add.reduceat(flat, starts, axis=0) / size[:, None]
    squares = np.add.reduceat((flat**2).sum(axis=1), starts) / size
    distances = (squares[:, None] + squares - 2 * means @ means.T) / flat.shape[1]
    result: NDArray[np.float64] = np.maximum(distances, 0)
    result[size == 1, size == 1] = 0  # nobody differs from themselves, whatever rounding says
    return result


def _alike(confusions: NDArray[np.float32]) -> NDArray[np.int64]:
    """An order of matrices (n, C, C) that puts those alike side by side."""
    if len(confusions) < 3:
        return np.arange(len(confusions))
    if len(confusions) <= _LEAVES:
        return leaf_order(confusion_distances(confusions))
    flat = confusions.reshape(len(confusions), -1)
    centred = flat - flat.mean(axis=0)
    axis = centred[np.abs(centred).sum(axis=1).argmax()]
    for _ in range(_POWERS):
        axis = (centred @ axis) @ centred
        axis /= max(float(np.linalg.norm(axis)), 1e-30)
    return np.argsort(centred @ axis, kind="stable")


def _mistake(mean: NDArray[Any], classes: list[str]) -> str:
    """The most frequent confusion of one class with another."""
    if len(classes) < 2:
        return ""
    wrong = mean.copy()
    np.fill_diagonal(wrong, -1.0)
    true, given = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return f"{classes[true]} taken for {classes[given]}, {wrong[true, given]:.0%}"
