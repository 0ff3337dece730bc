"""The report: one HTML file that holds everything, opens offline and asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from crowdwise.annotations.stats import krippendorff_alpha, label_agreement
from crowdwise.files import write_text
from crowdwise.report.html_annotators import annotator_table, labels_given
from crowdwise.report.html_charts import HEIGHT, STOPS, WIDTH, curves
from crowdwise.report.html_groups import group_map, group_table
from crowdwise.report.html_items import (
    VOICES,
    Votes,
    against_majority,
    count_votes,
    second_look,
    sureness,
)
from crowdwise.report.html_tables import Findings, collect, shown

CLASSES = 30  # classes with a row of their own in the table of classes
_TEMPLATES = "templates"


def write_report(folder: str | Path, out: str | Path | None = None) -> Path:
    """Write the report of a finished run folder; to report.html in that folder if out is None."""
    findings = collect(folder)
    path = findings.run.folder / "report.html" if out is None else Path(out)
    write_text(path, page(findings))
    return path


def page(findings: Findings) -> str:
    """The whole page as text. What users wrote reaches it escaped, through Jinja2 or as JSON."""
    votes = count_votes(findings)
    groups, items = group_table(findings), second_look(findings, votes)
    matrix_map = group_map(findings)
    annotators = annotator_table(findings)
    data = {
        "classes": findings.classes,
        "annotators": annotators,
        "groups": groups,
        "items": items,
        "map": matrix_map and matrix_map["cells"],
    }
    drawn = curves(findings.run.history)
    script = _asset("report.js")
    room = Environment(
        loader=PackageLoader("crowdwise.report", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    room.filters |= {"n": _count, "percent": _percent}
    return room.get_template("report.html").render(
        name=shown(findings.run.folder.resolve().name),
        style=Markup(_asset("report.css")),
        script=Markup(script),
        script_hash=_hash(script),
        data=Markup(embedded(data)),
        crowd=_crowd(findings, votes),
        classes=_classes(findings, votes),
        settings=settings(findings.config),
        seconds=sum(float(record.get("seconds") or 0) for record in findings.run.history),
        given=labels_given(findings),
        matrices_of=annotators["matrices"]["of"],
        suspected=annotators["suspected"],
        told=findings.annotators.columns,
        map=matrix_map,
        stops=", ".join(STOPS),
        groups=groups,
        items=items,
        voices=VOICES,
        sureness=sureness(votes),
        majority=against_majority(findings, votes),
        curves=[curve for curve in drawn if not curve.constant],
        constants=[curve for curve in drawn if curve.constant],
        box=(WIDTH, HEIGHT),
    )


def embedded(value: Any) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element.

    Example:
        >>> embedded({"annotator": "</script><script>alert(1)</script>"})
        '{"annotator":"\\\\u003c/script\\\\u003e\\\\u003cscript\\\\u003ealert(1)\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def settings(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Every setting of the run as a name and a value; where two parts name one, the chosen value.

    Example:
        >>> settings({"net": "auto", "parameters": {"lr": None}, "settings": {"lr": 0.01}})
        [('net', 'auto'), ('lr', '0.01')]
    """
    parts = (config.get("parameters"), config.get("settings"))
    named = {name: value for name, value in config.items() if not isinstance(value, dict | list)}
    named.pop("annotators", None)  # a size, told elsewhere
    for part in parts:
        named |= part if isinstance(part, dict) else {}
    first = [name for name in ("method", "net") if name in named]
    order = first + sorted(name for name in named if name not in first)
    return [(shown(name).replace("_", " "), _setting(named[name])) for name in order]


def _crowd(findings: Findings, votes: Votes) -> dict[str, Any]:
    crowd = findings.crowd
    return {
        "n_items": crowd.n_items,
        "labelled": int((votes.given > 0).sum()),
        "labels": len(crowd),
        "annotators": crowd.n_annotators,
        "classes": crowd.n_classes,
        "per_item": float(votes.given[votes.given > 0].mean()) if len(crowd) else 0.0,
        "sure": int((votes.probability >= 0.9).sum()),
        "agreement": label_agreement(crowd),
        "alpha": krippendorff_alpha(crowd),
    }


def _classes(findings: Findings, votes: Votes) -> dict[str, Any]:
    """Labels and consensus per class, in the classes' order; of very many, the most frequent."""
    size = findings.crowd.n_classes
    labels = np.bincount(findings.crowd.label, minlength=size)
    consensus = np.bincount(votes.consensus, minlength=size)
    kept = np.sort(np.argsort(-consensus, kind="stable")[:CLASSES])
    rows = [
        {
            "name": findings.classes[c],
            "labels": int(labels[c]),
            "consensus": int(consensus[c]),
            "label_share": labels[c] / max(labels.sum(), 1),
            "share": consensus[c] / max(consensus.sum(), 1),
        }
        for c in kept.tolist()
    ]
    most = max((max(row["label_share"], row["share"]) for row in rows), default=1) or 1
    return {"rows": rows, "most": most, "more": size - len(rows)}


def _asset(name: str) -> str:
    return files("crowdwise.report").joinpath(_TEMPLATES, name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """The script's fingerprint for the page's policy: a browser runs this one and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _setting(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else shown(value)


def _count(value: float) -> str:
    return f"{value:,}"


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}%"
