"""Run folders as `crowdwise fit` writes them, without training: what the report's tests read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import crowdwise
from crowdwise.annotations.table import Annotations
from crowdwise.report.html_tables import label_table

EVIL = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    '"><b onmouseover="alert(3)">',
    "{{ 7 * 7 }} &amp; \u2028 \u2029 <!--",
)


def write(folder: Path, crowd: Annotations, groups: Any = None, epochs: int = 5) -> Path:
    """A finished run over this crowd: Dawid-Skene stands in for the training."""
    answer = crowdwise.aggregate(crowd, method="dawid-skene", max_iterations=5)
    annotators = answer.annotators
    if groups is not None:
        annotators = annotators.with_columns(pl.Series("group", np.asarray(groups)))
    assert answer.confusions is not None
    flat = answer.confusions.reshape(crowd.n_annotators, -1).astype(np.float32)
    annotators = annotators.with_columns(
        pl.Series("confusion", flat, pl.Array(pl.Float32, flat.shape[1]))
    )
    frames = {"consensus": answer.to_frame(), "annotators": annotators}
    frames["labels"] = label_table(crowd)
    folder.mkdir(parents=True)
    for name, frame in frames.items():
        frame.write_parquet(folder / f"{name}.parquet")
    config = {
        "annotators": crowd.n_annotators,
        "classes": crowd.classes.tolist(),
        "net": "auto",
        "parameters": {"method": "ccc", "epochs": None, "seed": 0},
        "settings": {"epochs": epochs, "lr": 0.01, "n_groups": 3},
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    records = [
        {"epoch": e, "rate": 0.01, "loss": 2 / e, "seconds": 0.5} for e in range(1, epochs + 1)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "metrics.jsonl").write_text(lines, encoding="utf-8")
    (folder / "done").touch()
    return folder


def crowd(
    items: int, annotators: int, classes: Any = ("cat", "dog", "owl"), per_item: int = 3
) -> Annotations:
    """Annotators of every skill from 0.4 to 1; everyone labels different items."""
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(items), per_item)
    first = rng.integers(annotators, size=items)
    who = (first[:, None] + np.arange(per_item)).ravel() % annotators
    truth = rng.integers(len(classes), size=items)[item]
    skill = np.linspace(0.4, 1, annotators)[who]
    noise = rng.integers(len(classes), size=len(item))
    label = np.where(rng.random(len(item)) < skill, truth, noise)
    names = np.array([f"worker-{r:05}" for r in range(annotators)])
    ids = np.array([f"photo/{i:06}.jpg" for i in range(items)])
    return Annotations(item, who, label, ids, names, np.array(classes))


def evil(folder: Path) -> Path:
    """A small run in which everything a user can name is markup."""
    plain = crowd(items=60, annotators=12)
    annotators = np.array([*EVIL, *plain.annotator_ids[len(EVIL) :].tolist()])
    items = np.array([f"{EVIL[i % 4]} {i}" for i in range(60)])
    classes = np.array(["<b>cat</b>", EVIL[1], "owl"])
    named = Annotations(plain.item, plain.annotator, plain.label, items, annotators, classes)
    return write(folder, named, groups=np.arange(12) % 3)
