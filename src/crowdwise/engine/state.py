"""Where a training is: what the loop, the method, its optimisers and the random streams hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from crowdwise.methods.base import Method

Record = dict[str, Any]
Tensors = dict[str, Tensor]


@dataclass
class State:
    """What the loop knows; between epochs, `batch` is 0."""

    epoch: int = 0  # epochs finished
    batch: int = 0  # batches finished of the running epoch
    losses: dict[str, float] = field(default_factory=dict)  # their weighted sums
    first: dict[str, float] = field(default_factory=dict)  # losses of the first epoch's begin
    seconds: float = 0.0  # spent on the running epoch, when the state was kept
    started: float = 0.0  # when the running epoch began, by this process's clock
    stream: Tensor | None = None  # torch's random state that the running epoch's order came from
    history: list[Record] = field(default_factory=list)
    best: Tensors = field(default_factory=dict)  # weights of the selected epoch so far

    def next_epoch(self) -> None:
        """The running epoch is over."""
        self.epoch, self.batch, self.losses = self.epoch + 1, 0, {}
        self.seconds, self.stream = 0.0, None


ADAM = {"step", "exp_avg", "exp_avg_sq"}
SLOTS = {"SGD": {"momentum_buffer"}, "Adam": ADAM, "AdamW": ADAM}  # of every parameter
NUMBERS = ("epoch", "batch", "losses", "first", "seconds", "history")


def pack(method: Method, state: State) -> tuple[Tensors, dict[str, Any]]:
    """Everything the rest of a training depends on, as tensors and as JSON."""
    tensors = {
        **{f"method/{name}": value for name, value in method.state_dict().items()},
        **{f"memory/{name}": value for name, value in method.memory().items()},
        **{f"best/{name}": value for name, value in state.best.items()},
        **{f"random/{name}": value for name, value in _streams(method).items()},
    }
    if state.stream is not None:
        tensors["order"] = state.stream
    plain: dict[str, Any] = {}
    for place, value in _optimizer_values(method.optimizers):
        (tensors if isinstance(value, Tensor) else plain)[f"optimizer/{place}"] = value
    return tensors, {
        **{name: getattr(state, name) for name in NUMBERS},
        "optimizers": plain,
    }


def unpack(method: Method, state: State, tensors: Tensors, said: Mapping[str, Any]) -> None:
    """The reverse of `pack`, in place; the caller turns what does not fit into a sentence."""
    for name in NUMBERS:
        setattr(state, name, said[name])
    _check(state, method.options.epochs)
    method.load_state_dict(_below("method", tensors))
    method.recall(_below("memory", tensors))
    device = _device(method)
    state.best = {name: value.to(device) for name, value in _below("best", tensors).items()}
    if state.best and _shapes(state.best) != _shapes(method.state_dict()):
        raise ValueError("the best weights are of another model")
    _load_optimizers(method.optimizers, {**tensors, **said["optimizers"]})
    if state.batch:
        torch.set_rng_state(tensors["order"])  # is it one?
        state.stream = tensors["order"]
    torch.set_rng_state(tensors["random/cpu"])
    if "random/cuda" in tensors and device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random/cuda"], device)


def _check(state: State, epochs: int) -> None:
    for name in ("epoch", "batch", "history", "losses", "first", "seconds"):
        if type(getattr(state, name)) is not type(getattr(State(), name)):
            raise TypeError(f"{name} is {getattr(state, name)!r:.60}")
    if not (0 <= state.epoch <= epochs and 0 <= state.batch < 2**40):
        raise ValueError(f"epoch {state.epoch} of {epochs}, batch {state.batch}")
    for losses in (state.losses, state.first):
        if not all(type(loss) is float for loss in losses.values()):
            raise TypeError(f"losses are {losses!r:.60}")
    for number, record in enumerate(state.history, start=1):
        if record["epoch"] != number or not isinstance(record["rate"], float):
            raise ValueError(f"record {number} of the history is {record!r:.60}")
    if len(state.history) != state.epoch:
        raise ValueError(f"{len(state.history)} records of {state.epoch} epochs")


def _streams(method: Method) -> Tensors:
    device = _device(method)
    streams = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        streams["cuda"] = torch.cuda.get_rng_state(device)
    return streams


def _device(method: Method) -> torch.device:
    weight: Tensor = next(iter(method.state_dict().values()))
    return weight.device


def _shapes(tensors: Tensors) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in tensors.items()}


def _below(room: str, tensors: Tensors) -> Tensors:
    start = f"{room}/"
    return {
        name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)
    }


def _optimizer_values(optimizers: list[Optimizer]) -> Iterator[tuple[str, Any]]:
    for i, optimizer in enumerate(optimizers):
        for j, values in optimizer.state_dict()["state"].items():
            for name, value in values.items():
                yield f"{i}/{j}/{name}", value


def _load_optimizers(optimizers: list[Optimizer], values: Mapping[str, Any]) -> None:
    for i, optimizer in enumerate(optimizers):
        said = optimizer.state_dict()
        held: dict[int, dict[str, Any]] = {}
        for place, value in values.items():
            room, *where = place.split("/")
            if room == "optimizer" and int(where[0]) == i:
                held.setdefault(int(where[1]), {})[where[2]] = value
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        wanted = SLOTS.get(type(optimizer).__name__)
        for j, slots in held.items():
            if wanted and set(slots) != wanted:
                raise KeyError(f"optimizer {i} holds {sorted(slots)}, not {sorted(wanted)}")
            for name, value in slots.items():
                if name == "step" and value.ndim:
                    raise ValueError(f"optimizer {i}, step is {tuple(value.shape)}")
                if name != "step" and isinstance(value, Tensor):  # laid out as the weight is
                    if value.shape != parameters[j].shape:
                        raise ValueError(f"optimizer {i}, {name} is {tuple(value.shape)}")
                    slots[name] = torch.empty_like(parameters[j], dtype=value.dtype).copy_(value)
        optimizer.load_state_dict({**said, "state": held})
