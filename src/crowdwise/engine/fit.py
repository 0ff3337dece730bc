"""The training loop: explicit, the same for every method, and blind to what a method is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from crowdwise.batches import CrowdData
from crowdwise.engine.devices import make_fabric, place
from crowdwise.engine.evaluate import Split, accuracies, agreement
from crowdwise.errors import InputError
from crowdwise.methods.base import Method
from crowdwise.results.selection import select

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Record = dict[str, Any]


def fit(
    method: Method,
    data: CrowdData,
    splits: Mapping[str, Split | CrowdData] | None = None,
    on_epoch: Callable[[Record], None] | None = None,
    fabric: Fabric | None = None,
) -> list[Record]:
    """Train a method; the weights of the epoch that `options.selection` names are kept.

    Args:
        method: freshly built, see `crowdwise.methods.create`.
        data: the training set; items without labels take no part.
        splits: scored after every epoch under their names: a `Split` by its true classes, a
            `CrowdData` by agreement with its labels. `validation` serves the selection rule.
        on_epoch: called with every epoch's record: a progress bar, a log.
        fabric: devices and precision; made from the options when None.

    Returns:
        One record per epoch: epoch, rate, losses, seconds, and a score per split.
    """
    options = method.options
    splits = splits or {}
    if options.selection == "validation" and "validation" not in splits:
        raise InputError(
            "selection='validation' needs a validation split; give one, or take selection='last'"
        )
    fabric = fabric or make_fabric(options.precision, accelerator=data.device.type)
    place(fabric, method)
    history: list[Record] = []
    best: dict[str, Tensor] = {}
    method.train()
    try:
        method.start(data)
        for epoch in range(options.epochs):
            record = _epoch(method, data, splits, epoch)
            history.append(record)
            if options.selection == "validation" and select(history, "validation") == epoch:
                # copies: the weights themselves go on to change
                best = {name: value.clone() for name, value in method.state_dict().items()}
            if on_epoch:
                on_epoch(record)
    finally:
        method.eval()
    if best:
        method.load_state_dict(best)
    return history


def _epoch(
    method: Method, data: CrowdData, splits: Mapping[str, Split | CrowdData], epoch: int
) -> Record:
    started = perf_counter()
    rate = method.options.rate(epoch)
    method.set_rate(rate)
    method.start_epoch(data, epoch)
    losses = _train_epoch(method, data, method.options.batch_size)
    for name, loss in losses.items():
        if not isfinite(loss):
            raise InputError(
                f"epoch {epoch + 1}: the training {name} is {loss}; the rate {rate:g} is too high "
                "for these features: try a lower lr, or standardise them"
            )
    record: Record = {"epoch": epoch + 1, "rate": rate, **losses}
    for name, split in splits.items():
        record |= _score(method, name, split)
    return {**record, "seconds": round(perf_counter() - started, 3)}


def _train_epoch(method: Method, data: CrowdData, batch_size: int) -> dict[str, float]:
    """One pass in a fresh order; losses are summed on the device and read once."""
    order = data.labelled[torch.randperm(len(data.labelled)).to(data.device)]
    total: dict[str, Tensor] = {}
    for batch in data.epoch(order, batch_size):
        for name, loss in method.update(batch).items():
            total[name] = total.get(name, 0) + loss * len(batch)
    return {name: float(loss) / len(order) for name, loss in total.items()}


def _score(method: Method, name: str, split: Split | CrowdData) -> Record:
    if isinstance(split, CrowdData):
        return {name: agreement(method, split)}
    together, each = accuracies(method, split)
    return {name: together, f"{name}_each": each} if len(each) > 1 else {name: together}
