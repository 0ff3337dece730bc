"""What can be set on a method. The names are the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import cos, isfinite, pi
from typing import Any, Literal, TypeVar, get_args, get_type_hints

import numpy as np

from crowdwise.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Options:
    """How any method is trained; each method adds its own fields."""

    epochs: int = 60  # passes over the training set
    batch_size: int = 128  # items in a batch
    lr: float = 1e-3  # learning rate at the start
    weight_decay: float = 0.0  # on all parameters, the crowd's included
    optimizer: Literal["sgd", "adam", "adamw"] = "adam"
    momentum: float = 0.9  # of sgd
    schedule: Literal["constant", "step", "cosine"] = "constant"
    milestones: tuple[int, ...] = ()  # epochs after which "step" divides the rate by ten
    n_models: int = 1  # classifiers whose softmaxes are averaged
    selection: Literal["last", "validation"] = "last"  # which epoch's weights are kept
    precision: Literal["fp32", "bf16"] = "fp32"  # of everything before the last linear layer
    seed: int = 0  # the one source of randomness

    def __post_init__(self) -> None:
        """Refuse what cannot work, naming the option."""
        for name in ("epochs", "batch_size", "n_models"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        _require(self.lr > 0, "lr", self.lr, "greater than 0")
        _require(self.weight_decay >= 0, "weight_decay", self.weight_decay, "0 or more")
        _require(
            0 <= self.momentum < 1, "momentum", self.momentum, "from 0 up to, not including, 1"
        )
        for name, choice in get_type_hints(type(self)).items():
            allowed = get_args(choice)
            if allowed and all(isinstance(value, str) for value in allowed):
                value = getattr(self, name)
                _require(value in allowed, name, value, "one of " + ", ".join(allowed))

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch (counted from 0).

        Example:
            >>> Options(lr=0.1, schedule="step", milestones=(40,)).rate(40)
            0.01
        """
        if self.schedule == "step":
            return float(self.lr / 10 ** sum(epoch >= milestone for milestone in self.milestones))
        if self.schedule == "cosine":
            return self.lr * (1 + cos(pi * epoch / self.epochs)) / 2
        return self.lr


AnyOptions = TypeVar("AnyOptions", bound=Options)


def make_options(kind: type[AnyOptions], given: Mapping[str, Any]) -> AnyOptions:
    """Build options from names and values; an unknown name is refused with the known ones."""
    known = [field.name for field in fields(kind)]
    for name in given:
        if name not in known:
            raise InputError(f"there is no option {name!r}; choose from {', '.join(sorted(known))}")
    hints = get_type_hints(kind)
    return kind(**{name: _typed(name, value, hints[name]) for name, value in given.items()})


def _typed(name: str, value: Any, hint: Any) -> Any:
    """A value of the option's type: whole floats and NumPy numbers are numbers, no is not 0."""
    if isinstance(value, np.generic):
        value = value.item()
    if hint is bool:
        _require(isinstance(value, bool), name, value, "true or false")
    elif hint in (int, float):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        _require(number and isfinite(value), name, value, "a number")
        _require(hint is float or value == int(value), name, value, "a whole number")
        return hint(value)
    elif hint == tuple[int, ...]:
        numbers = [value] if isinstance(value, int) else list(value)
        return tuple(_typed(name, number, int) for number in numbers)
    return value


def _require(holds: bool, name: str, value: object, wanted: str) -> None:
    if not holds:
        raise InputError(f"option {name} is {value!r}; it must be {wanted}")
