"""One cell is one training run: data set, method, seed, options; its hash is its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdwise.errors import InputError
from crowdwise.reproduce.machine import machine
from crowdwise.reproduce.settings import setting
from crowdwise.results.table import crowd_in_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdwise.annotations import Annotations
    from crowdwise.datasets import Dataset

MINUTES = 1.0  # between two checkpoints of a cell


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
    scale: str = "paper"

    def resolved(self) -> dict[str, Any]:
        """Everything the result depends on, settings included."""
        base = setting(self.dataset, self.scale)
        own = base.ccc if self.method == "ccc" else {}
        pair = {"n_models": 2}
        crowd = {**base.crowd, **self.crowd}
        told = self.method != "true-labels"  # who learns from the truth does not hear the crowd
        fewer = {"items": base.items, "judged": base.judged}
        return {
            **({"crowd": {**crowd, "seed": self.seed}} if crowd and told else {}),
            **{name: number for name, number in fewer.items() if number is not None},
            "dataset": base.data or self.dataset,
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

    @property
    def place(self) -> str:
        """The table it belongs to: the data set, and the simulated crowd where there is one.

        Example:
            >>> Cell("cifar10", "ccc", 0, crowd={"case": "IND-I", "k": 5}).place
            'cifar10, IND-I, k = 5'
        """
        return ", ".join(filter(None, [self.dataset, crowd_in_words(self.crowd)]))

    def __str__(self) -> str:
        return f"{self.place}, {self.label or self.method}, seed {self.seed}"


def run_cell(
    cell: Cell, threads: int = 1, steps: int | None = None, state: Path | None = None
) -> dict[str, Any]:
    """Train one cell and return its line: scores by rule, single and paired, and the curve.

    With `steps` it is no result but a rehearsal: two epochs, of so many batches each, the second
    after the warm-up, scored on one batch. `state` is the folder of the training's checkpoint:
    what lies there is gone on from.
    """
    import torch

    from crowdwise import methods, nets
    from crowdwise.batches import CrowdData
    from crowdwise.engine import Split, fit, seeded
    from crowdwise.engine.checkpoint import Checkpoints

    torch.set_num_threads(threads)
    what = cell.resolved()
    if steps is not None:
        what = _shortened(what, steps)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = _dataset(what["dataset"], what.get("items"), what.get("judged"))
    train = CrowdData(data.x_train, _crowd(cell, data), device)
    splits = {"test": Split.of(data.x_test, data.y_test, device)}
    if data.x_valid is not None and data.y_valid is not None:
        splits["validation"] = Split.of(data.x_valid, data.y_valid, device)

    def make_net() -> nets.Net:
        _, _, C = train.shape
        return nets.make(what["net"], train.shape.input, C, **what["net_options"])

    checkpoints = None if state is None else Checkpoints(state, minutes=MINUTES)
    with seeded(cell.seed):
        method = methods.create(
            cell.method,
            make_net,
            train.shape,
            what["options"],
        )
        try:
            history = fit(method, train, splits, checkpoints=checkpoints)
        except InputError as error:
            raise InputError(f"{cell}: {error}") from error
    return {
        "key": cell.key,
        "cell": asdict(cell),
        "resolved": what,
        **scores(history),
        "seconds": round(sum(epoch["seconds"] for epoch in history), 1),
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


def _shortened(what: Mapping[str, Any], steps: int) -> dict[str, Any]:
    """A rehearsal of a run: two epochs of `steps` batches, the second after any warm-up."""
    options = {**what["options"], "epochs": 2}
    if "warmup_epochs" in options:
        options["warmup_epochs"] = 1
    size = options["batch_size"]
    return {**what, "options": options, "items": steps * size, "judged": size}


@lru_cache(maxsize=1)
def _dataset(name: str, items: int | None = None, judged: int | None = None) -> Dataset:
    """A data set, or so many of its training items, drawn once for all, and the first to judge."""
    from crowdwise import datasets

    data = datasets.load(name)
    kept = slice(None) if items is None else _drawn(len(data.x_train), items)
    assert data.y_train is not None
    return replace(
        data,
        x_train=data.x_train[kept],
        y_train=data.y_train[kept],
        annotations=data.annotations
        if items is None or data.annotations is None
        else data.annotations.subset(items=data.annotations.item_ids[kept]),
        x_test=data.x_test[:judged],
        y_test=data.y_test[:judged],
        x_valid=None if data.x_valid is None else data.x_valid[:judged],
        y_valid=None if data.y_valid is None else data.y_valid[:judged],
    )


def _drawn(N: int, items: int) -> NDArray[np.int64]:
    drawn: NDArray[np.int64] = np.random.default_rng(0).permutation(N)[:items]
    return np.sort(drawn)


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
