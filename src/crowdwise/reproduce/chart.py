"""Finished runs as a picture: accuracy by method and place, or along a number such as k or G."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import altair as alt

from crowdwise.report.pictures import BLUE, ORANGE, Spec, title, with_rows
from crowdwise.reproduce.paper import NAMES
from crowdwise.results.table import Row

OURS, GREY = NAMES["ccc"], "#888888"
LAST, ORACLE, PAPER = "last epoch", "oracle epoch", "the paper's, last epoch"
ACROSS = 4  # panels beside each other


def draw(rows: Sequence[Row], heading: str, subtitle: str) -> Spec:
    """A line where the runs differ in one number only, else a panel of methods per place."""
    number = _number(rows)
    return _lines(rows, number, heading, subtitle) if number else _panels(rows, heading, subtitle)


def _panels(rows: Sequence[Row], heading: str, subtitle: str) -> Spec:
    marks = _marks(rows)
    values = [mark["accuracy"] for mark in marks]
    ends = alt.Scale(domain=[max(0, min(values) - 2), min(100, max(values) + 2)], nice=False)
    base = alt.Chart().encode(
        y=alt.Y("method:N", title=None, sort=list(dict.fromkeys(row.name for row in rows)))
    )
    dots = base.mark_point(size=55, opacity=1, strokeWidth=2).encode(
        x=alt.X("accuracy:Q", title="test accuracy, %", scale=ends),
        shape=alt.Shape("what:N", title=None, **_scale(["circle", "diamond", "stroke"])),
        color=alt.Color("what:N", title=None, **_scale([BLUE, ORANGE, GREY])),
    )
    spread = base.mark_rule(color=BLUE).encode(
        x=alt.X("low:Q", title="test accuracy, %", scale=ends), x2="high:Q"
    )
    places = list(dict.fromkeys(row.place for row in rows))
    chart = (
        alt.layer(spread, dots, data=alt.NamedData(name="rows"))
        .properties(width=210, height=18 * len({row.name for row in rows}))
        .facet(facet=alt.Facet("place:N", title=None, sort=places), columns=ACROSS)
        .properties(title=title(heading, *_under(subtitle)))
        .configure_header(labelFontSize=12, labelFontWeight="bold")
    )
    return with_rows(chart, marks)


def _lines(rows: Sequence[Row], number: str, heading: str, subtitle: str) -> Spec:
    marks = [mark | {"x": _value(mark, number)} for mark in _marks(rows)]
    for mark in marks:
        mark["who"] = mark["method"] if number == "k" else OURS
    base = alt.Chart().encode(
        x=alt.X("x:Q", title=_MEANING[number]).axis(
            values=sorted({mark["x"] for mark in marks}), grid=False
        ),
        y=alt.Y("accuracy:Q", title="test accuracy, %", scale=alt.Scale(zero=False)),
        color=alt.Color("who:N", title=None, scale=alt.Scale(range=[BLUE, ORANGE, GREY])).legend(
            orient="top", symbolType="stroke"
        ),
        detail="what:N",
    )
    lines = base.mark_line().encode(
        strokeDash=alt.StrokeDash(
            "what:N", title=None, **_scale([[1, 0], [4, 3], [1, 3]], symbolType="stroke")
        )
    )
    spread = base.mark_rule(opacity=0.6).encode(y="low:Q", y2="high:Q")
    chart = (
        alt.layer(spread, lines, data=alt.NamedData(name="rows"))
        .properties(width=360, height=240)
        .facet(facet=alt.Facet("dataset:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
        .properties(title=title(heading, *_under(subtitle)))
    )
    return with_rows(chart, marks)


def _under(subtitle: str) -> list[str]:
    return [*wrap(subtitle, 130), "Bars are ± one standard deviation over runs"]


_MEANING = {"k": "labels per item (k)", "G": "annotator groups (G)"}


def _marks(rows: Sequence[Row]) -> list[dict[str, Any]]:
    marks = []
    for row in rows:
        for column, what in (
            ("pair, last", LAST),
            ("pair, oracle", ORACLE),
            ("paper, last", PAPER),
        ):
            if column not in row.scores:
                continue
            mean, sd, _ = row.scores[column]
            around = sd if sd is not None and what == LAST else 0.0
            marks.append(
                {
                    "place": row.place,
                    "dataset": row.dataset,
                    "crowd": row.crowd,
                    "method": row.name,
                    "what": what,
                    "accuracy": round(mean, 2),
                    "low": round(mean - around, 2),
                    "high": round(mean + around, 2),
                }
            )
    return marks


def _number(rows: Sequence[Row]) -> str:
    """Which number rows differ in: k (in their crowds), G (in their names), or none."""
    if any("k = " in row.crowd for row in rows):
        return "k"
    return "G" if rows and all(re.fullmatch(r"G = \d+", row.name) for row in rows) else ""


def _value(mark: dict[str, Any], number: str) -> int:
    found = re.search(rf"\b{number} = (\d+)", f"{mark['crowd']} {mark['method']}")
    return int(found[1]) if found else 3  # the setting's own k


def _scale(values: list[Any], **look: Any) -> dict[str, Any]:
    legend = alt.Legend(orient="top", **look)
    return {"scale": alt.Scale(domain=[LAST, ORACLE, PAPER], range=values), "legend": legend}
