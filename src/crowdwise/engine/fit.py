"""The training loop: explicit, the same for every method, and blind to what a method is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch, CrowdData, Ranks
from crowdwise.engine.checkpoint import Checkpoints
from crowdwise.engine.devices import join, make_fabric, place
from crowdwise.engine.evaluate import Split, accuracies, agreement
from crowdwise.engine.losses import BadLoss, Losses
from crowdwise.engine.state import Record, State
from crowdwise.engine.trouble import agree, not_finite, refuse_divergence
from crowdwise.errors import InputError
from crowdwise.methods.base import Method
from crowdwise.results.selection import select

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def fit(
    method: Method,
    data: CrowdData,
    splits: Mapping[str, Split | CrowdData] | None = None,
    on_epoch: Callable[[Record], None] | None = None,
    fabric: Fabric | None = None,
    checkpoints: Checkpoints | None = None,
) -> list[Record]:
    """Train a method; the weights of the epoch that `options.selection` names are kept.

    Args:
        method: freshly built, see `crowdwise.methods.create`.
        data: the training set; items without labels take no part.
        splits: scored after every epoch under their names: a `Split` by its true classes, a
            `CrowdData` by agreement with its labels. `validation` serves the selection rule.
        on_epoch: called with every epoch's record, those before a checkpoint included: a progress
            bar, a log.
        fabric: devices and precision; made from the options when None. On several devices each
            process calls this with the same arguments, and gets the same back.
        checkpoints: where the state is kept; a state found there is gone on from, and the result
            is the same to the byte.

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
    ranks = join(fabric)
    place(fabric, method, ranks)
    state = State()
    keeper = checkpoints if ranks.rank == 0 else None  # all read a checkpoint, one writes it
    method.train()

    try:
        method.start(data)
        if checkpoints:
            checkpoints.begin(method, data, state)
        if on_epoch:
            for record in state.history:
                on_epoch(record)
        while state.epoch < options.epochs:
            record = _epoch(method, data, splits, state, keeper)
            if on_epoch:
                on_epoch(record)
            agree(method, state.epoch)
            if keeper and keeper.due(state):
                keeper.keep(method, state)
    finally:
        method.eval()
    if state.best:
        method.load_state_dict(state.best)
    return state.history


def _epoch(
    method: Method,
    data: CrowdData,
    splits: Mapping[str, Split | CrowdData],
    state: State,
    checkpoints: Checkpoints | None,
) -> Record:
    """Train from where `state` is to the epoch's end, score, and move `state` on."""
    state.started = perf_counter() - state.seconds
    rate = method.options.rate(state.epoch)
    method.set_rate(rate)
    losses = _train_epoch(method, data, state, checkpoints)
    record: Record = {"epoch": state.epoch + 1, "rate": rate, **losses}
    record |= {name: int(count) for name, count in method.counts().items() if count}
    for name, split in splits.items():
        record |= _score(method, name, split)
    record["seconds"] = round(perf_counter() - state.started, 3)
    state.history.append(record)
    by_score = method.options.selection == "validation"
    if by_score and select(state.history, "validation") == state.epoch:
        # copies: the weights themselves go on to change
        state.best = {name: value.clone() for name, value in method.state_dict().items()}
    state.next_epoch()
    return record


def _train_epoch(
    method: Method, data: CrowdData, state: State, checkpoints: Checkpoints | None
) -> dict[str, float]:
    """One pass in a fresh order, or what a checkpoint left of it; the losses' means."""
    size = method.options.batch_size
    if state.stream is None:
        method.start_epoch(data, state.epoch)
        state.stream = torch.get_rng_state()
        order = _shuffled(data)
    else:  # inside an epoch: the same order again, without drawing from the stream
        with torch.random.fork_rng(devices=()):
            torch.set_rng_state(state.stream)
            order = _shuffled(data)
    done = min(state.batch * size, len(order))
    losses = Losses(state.losses, done, state.batch)
    try:
        for batch in batches(data, order[done:], size, method.ranks):
            items = min(size, len(order) - state.batch * size)
            losses.add(method.update(batch), items)
            state.batch += 1
            if checkpoints and checkpoints.due(state):
                state.losses, state.seconds = losses.look(), perf_counter() - state.started
                checkpoints.keep(method, state)
        means = losses.means()
    except BadLoss as bad:
        raise not_finite(bad, method, data, order, state.epoch) from None
    state.first = state.first or losses.first
    refuse_divergence(state, means, method)
    return means


def batches(data: CrowdData, order: Tensor, batch_size: int, ranks: Ranks) -> Iterator[CrowdBatch]:
    """The batches over `order`, or this process's share of each."""
    for own, size in ranks.batches(order, batch_size):
        yield from data.epoch(own, size)


def _shuffled(data: CrowdData) -> Tensor:
    return data.labelled[torch.randperm(len(data.labelled)).to(data.device)]


def _score(method: Method, name: str, split: Split | CrowdData) -> Record:
    if isinstance(split, CrowdData):
        return {name: agreement(method, split)}
    together, each = accuracies(method, split)
    return {name: together, f"{name}_each": each} if len(each) > 1 else {name: together}
