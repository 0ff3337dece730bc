"""The paper's two pictures of a crowd: labels per annotator, distances between annotators."""

from __future__ import annotations

import json
import math
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from crowdwise.annotations.confusions import confusion_distances, true_confusions
from crowdwise.annotations.known import Truth, truth_codes
from crowdwise.annotations.summary import FEW
from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError
from crowdwise.report.pictures import BLUE, ORANGE, Spec, drawable, title, with_rows, write

__all__ = ["Spec", "annotator_distances", "labels_per_annotator", "leaf_order", "write"]


MOST_DRAWN = 150  # annotators in the heat map; beyond that its cells are too small to see

_CONFUSION_CELLS = 50_000_000  # the confusion matrices of those drawn hold at most so many numbers


def labels_per_annotator(annotations: Annotations) -> Spec:
    """The histogram of how many labels each annotator gave (the paper's Figure 1).

    Bins are (lower, upper]. Where few annotators give most labels, bins grow as 1, 2, 5, 10, …
    and the axis is logarithmic.
    """
    given = np.bincount(annotations.annotator, minlength=annotations.n_annotators)
    counts = given[given > 0]
    if not len(counts):
        raise InputError("there are no labels to draw; give a table with at least one row")
    edges, logarithmic = _edges(counts)
    few_name, more_name = f"at most {FEW} labels", f"more than {FEW}"
    few_heights = np.histogram(counts[counts <= FEW], _closed_above(edges))[0].tolist()
    heights = np.histogram(counts, _closed_above(edges))[0].tolist()
    bins = zip(edges[:-1].tolist(), edges[1:].tolist(), few_heights, heights, strict=True)
    rows = [
        {"lower": lower, "upper": upper, "base": base, "top": top, "who": who}
        for lower, upper, few, height in bins
        for base, top, who in ((0, few, few_name), (few, height, more_name))
        if top > base
    ]

    n_few, n = int((counts <= FEW).sum()), len(counts)
    silent = len(given) - n
    subtitle = (
        f"{n_few:,} of {_people(n)} ({n_few / n:.0%}) gave at most {FEW} labels; "
        f"median {np.median(counts):,.0f}, most {counts.max():,}"
        + (f"; {silent:,} without a label not drawn" if silent else "")
    )
    axis_title = "labels given by one annotator" + (" (logarithmic)" if logarithmic else "")
    scale = (
        alt.Scale(type="log", domain=edges[[0, -1]].tolist(), nice=False)
        if logarithmic
        else alt.Scale(domain=[0, float(edges[-1])], nice=False)
    )
    shown = edges[edges >= 1] if logarithmic else edges[:: math.ceil(len(edges) / 14)]
    whole_steps: dict[str, Any] = (
        {"values": list(range(max(heights) + 1))} if max(heights) <= 8 else {}
    )
    chart = (
        alt.Chart(alt.NamedData(name="rows"))
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X("lower:Q", title=axis_title, scale=scale).axis(
                format=",d", grid=False, zindex=1, values=shown.tolist()
            ),
            x2="upper:Q",
            y=alt.Y("base:Q", title="annotators").axis(format=",d", domain=False, **whole_steps),
            y2="top:Q",
            color=alt.Color(
                "who:N",
                title=None,
                scale=alt.Scale(domain=[few_name, more_name], range=[ORANGE, BLUE]),
            ).legend(orient="top", symbolType="square"),
        )
        .properties(width=520, height=300, title=title("Labels per annotator", subtitle))
    )
    return with_rows(chart, rows)


def annotator_distances(annotations: Annotations, truth: Truth, most: int = MOST_DRAWN) -> Spec:
    """The distances between the annotators' true confusion matrices (the paper's Figure 2).

    Rows and columns are in the order of an average-linkage clustering with optimal leaf order, so
    that annotators who err alike stand together. At most `most` annotators are drawn: those with
    the most labels on items whose truth is known; the title says how many were left out.
    """
    true_class = truth_codes(annotations, truth)[annotations.item]  # (L,)
    known = (true_class >= 0) & (true_class < annotations.n_classes)
    judged = np.bincount(annotations.annotator[known], minlength=annotations.n_annotators)
    candidates = np.flatnonzero(judged)
    room = min(most, _CONFUSION_CELLS // max(annotations.n_classes, 1) ** 2)
    if len(candidates) < 2 or room < 2:
        raise InputError(
            f"distances between annotators cannot be drawn: {len(candidates)} annotators labelled "
            f"items whose truth is known, in {annotations.n_classes:,} classes; give the truth of "
            "more items, or check which column holds the labels"
        )
    chosen = candidates[np.argsort(-judged[candidates], kind="stable")[:room]]
    distances = confusion_distances(true_confusions(annotations, truth, chosen))
    order = leaf_order(distances)
    names = [drawable(str(name)) for name in annotations.annotator_ids[chosen[order]].tolist()]

    n, total = len(order), annotations.n_annotators
    who = (
        f"all {total:,} annotators"
        if n == total
        else f"the {n:,} annotators with the most labels, of {total:,}"
        if n < len(candidates)
        else f"the {n:,} annotators of items with known truth, of {total:,}"
    )
    ordered = distances[np.ix_(order, order)]
    rows = [
        {"row": i, "column": j, "distance": float(f"{value:.4g}")}
        for i, line in enumerate(ordered.tolist())
        for j, value in enumerate(line)
    ]
    step = min(max(3, 480 // n), 40)
    labels: dict[str, Any] = {"labels": False, "ticks": False}
    if step >= 8:
        labels = {
            "labelExpr": f"{json.dumps(names)}[datum.value]",
            "labelFontSize": min(step, 11),
            "labelLimit": 110,
            "labelOverlap": False,
            "ticks": False,
        }
    chart = (
        alt.Chart(alt.NamedData(name="rows"))
        .mark_rect()
        .encode(
            x=alt.X("column:O", title="annotator").axis(
                orient="bottom", domain=False, labelAngle=-90, **labels
            ),
            y=alt.Y("row:O", title="annotator").axis(domain=False, **labels),
            color=alt.Color(
                "distance:Q",
                title=["mean squared", "difference"],
                scale=alt.Scale(scheme="viridis", zero=True),
            ).legend(gradientLength=200, format="~g"),
        )
        .properties(
            width=alt.Step(step),
            height=alt.Step(step),
            title=title(
                "How differently annotators err",
                f"Distances between true confusion matrices; {who}",
                "Neighbours err alike: a dark block on the diagonal is a group",
            ),
        )
    )
    return with_rows(chart, rows)


def leaf_order(distances: ArrayLike) -> NDArray[np.int64]:
    """An order (R,) of annotators that puts those with small distances (R, R) side by side."""
    condensed = squareform(np.asarray(distances, dtype=np.float64), checks=False)
    tree = hierarchy.linkage(condensed, method="average", optimal_ordering=True)
    return np.asarray(hierarchy.leaves_list(tree), dtype=np.int64)


def _edges(counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], bool]:
    """The edges of bins (lower, upper] that hold all counts, and whether they grow."""
    most = int(counts.max())
    steps = np.outer(10.0 ** np.arange(-1, 12), [1, 2, 5]).ravel()  # 0.1, 0.2, 0.5, 1, 2, 5, …
    if most > 20 * np.median(counts) and most > FEW:
        first = int(np.searchsorted(steps, counts.min())) - 1
        last = int(np.searchsorted(steps, most))
        return steps[first : last + 1], True
    whole_steps = steps[steps >= 1]
    width = float(whole_steps[np.searchsorted(whole_steps, most / 30)])
    return np.arange(0, most + width, width), False


def _closed_above(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """NumPy's bins are [lower, upper); counts are whole, so half a step makes (lower, upper]."""
    return np.floor(edges) + 0.5


def _people(n: int) -> str:
    return f"{n:,} annotator" + ("" if n == 1 else "s")
