"""A picture as a Vega-Lite specification: its one look, its rows, its two files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeAlias

import altair as alt
import vl_convert

from crowdwise.files import whole

Spec: TypeAlias = dict[str, Any]

# Okabe and Ito's colours, which every common colour blindness tells apart.
BLUE, ORANGE = "#0072B2", "#E69F00"
_INK, _FAINT, _GRID = "#222222", "#666666", "#E5E5E5"


def drawable(text: str) -> str:
    """`text` as a picture can show it; a control character would end the renderer's process."""
    visible = "".join(character if character.isprintable() else "�" for character in text)
    return visible if len(visible) <= 40 else visible[:39] + "…"


def title(text: str, *subtitle: str) -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=list(subtitle))


def with_rows(chart: alt.Chart, rows: list[dict[str, Any]]) -> Spec:
    """The chart's specification in our look, with `rows` as its data named "rows".

    Rows join the finished specification as plain values, so neither Altair's limit of 5,000 rows
    nor its row-by-row validation touches them.
    """
    styled = (
        chart.configure(background="white", font="sans-serif", padding=14)
        .configure_title(
            anchor="start",
            fontSize=17,
            color=_INK,
            subtitleColor=_FAINT,
            subtitleFontSize=12,
            subtitlePadding=5,
            offset=14,
        )
        .configure_axis(
            labelColor=_INK,
            titleColor=_INK,
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
            gridColor=_GRID,
            domainColor="#999999",
            tickColor="#999999",
        )
        .configure_legend(
            labelColor=_INK,
            titleColor=_INK,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
        )
        .configure_view(stroke=None)
    )
    spec: Spec = styled.to_dict()
    spec["datasets"] = {"rows": rows}
    return spec


def write(spec: Spec, folder: str | Path, name: str) -> list[Path]:
    """Write the picture as `name.png` and `name.svg` into `folder`; return the two paths."""
    text = json.dumps(spec)
    # Vega numbers gradients from the start of the process; one picture has one, so call it 0.
    svg = re.sub(r'(id="|url\(#)gradient_\d+', r"\1gradient_0", vl_convert.vegalite_to_svg(text))
    pictures = {".png": vl_convert.vegalite_to_png(text, scale=2), ".svg": svg.encode()}
    paths = []
    for suffix, content in pictures.items():
        path = Path(folder) / (name + suffix)
        with whole(path) as temporary:
            temporary.write_bytes(content)
        paths.append(path)
    return paths
