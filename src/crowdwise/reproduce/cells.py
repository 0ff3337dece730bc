"""One cell is one training run: data set, method, seed, options; its hash is its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdwise.errors import InputError
from crowdwise.reproduce.machine import machine
from crowdwise.reproduce.settings import setting

if TYPE_CHECKING:
    from crowdwise.annotations import Annotations
    from crowdwise.datasets import Dataset


@dataclass(frozen=True)
class Cell:
    """What is run. `options` hold only what departs from the data set's setting."""

    dataset: str
    method: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    net_options: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""  # how tables name the variant; no part of the hash
    crowd: Mapping[str, Any] = field(default_factory=dict)  # of a simulated one: case, k, …

    def resolved(self) -> dict[str, Any]:
        """Everything the result depends on, settings included."""
        base = setting(self.dataset)
        own = base.ccc if self.method == "ccc" else {}
        pair = {"n_models": 2}
        crowd = {**base.crowd, **self.crowd}
        return {
            **({"crowd": {**crowd, "seed": self.seed}} if crowd else {}),
            "dataset": self.dataset,
            "method": self.method,
            "net": base.net,
            "net_options": {**base.net_options, **self.net_options},
            "options": {**base.options, **pair, **own, **self.options, "seed": self.seed},
        }

    @property
    def key(self) -> str:
        """Hash of everything the result depends on."""
        text = json.dumps(self.resolved(), sort_keys=True)
        return sha256(text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.dataset}, {self.label or self.method}, seed {self.seed}"


def run_cell(cell: Cell, threads: int = 1) -> dict[str, Any]:
    """Train one cell and return its line: scores by rule, single and paired, and the curve."""
    import torch

    from crowdwise import methods, nets
    from crowdwise.batches import CrowdData
    from crowdwise.engine import Split, fit, seeded

    torch.set_num_threads(threads)
    what = cell.resolved()
    data = _dataset(cell.dataset)
    train = CrowdData(data.x_train, _crowd(cell, data))
    splits = {"test": Split.of(data.x_test, data.y_test)}
    if data.x_valid is not None and data.y_valid is not None:
        splits["validation"] = Split.of(data.x_valid, data.y_valid)
    started = perf_counter()
    with seeded(cell.seed):
        method = methods.create(
            cell.method,
            lambda: nets.make(
                what["net"], train.shape.input, train.shape.n_classes, **what["net_options"]
            ),
            train.shape,
            what["options"],
        )
        try:
            history = fit(method, train, splits)
        except InputError as error:
            raise InputError(f"{cell}: {error}") from error
    return {
        "key": cell.key,
        "cell": asdict(cell),
        "resolved": what,
        **scores(history),
        "seconds": round(perf_counter() - started, 1),
        "torch": torch.__version__,
        "machine": machine(),
    }


def scores(history: list[dict[str, Any]]) -> dict[str, Any]:
    """Test accuracy in percent by selection rule, of the mean prediction and of single models."""
    from crowdwise.results import select

    each = np.array([epoch.get("test_each", [epoch["test"]]) for epoch in history]) * 100
    curve = [round(100 * epoch["test"], 3) for epoch in history]
    line: dict[str, Any] = {
        "paired": {rule: curve[select(history, rule)] for rule in ("last", "oracle")},
        "single": {
            "last": each[-1].round(3).tolist(),
            "oracle": each.max(axis=0).round(3).tolist(),
        },
        "curve": curve,
    }
    if "validation" in history[0]:
        picked = select(history, "validation")
        line["paired"]["validation"] = curve[picked]
        line["validation_last"] = round(100 * history[-1]["validation"], 3)
    return line


@lru_cache(maxsize=1)
def _dataset(name: str) -> Dataset:
    from crowdwise import datasets

    return datasets.load(name)


def _crowd(cell: Cell, data: Dataset) -> Annotations:
    from crowdwise import simulate

    if cell.method == "true-labels":
        return _perfect(data)
    if simulated := cell.resolved().get("crowd"):
        assert data.y_train is not None
        return simulate.crowd(data.y_train, n_classes=len(data.classes), **simulated)
    assert data.annotations is not None
    return data.annotations


def _perfect(data: Dataset) -> Annotations:
    """The truth as the labels of one perfect annotator, for the upper bound."""
    from crowdwise.annotations import Annotations

    assert data.y_train is not None
    n = len(data.y_train)
    rows = np.arange(n, dtype=np.int32)
    return Annotations(
        rows,
        np.zeros(n, np.int32),
        data.y_train.astype(np.int32),
        np.arange(n),
        np.array(["truth"]),
        data.classes,
    )
