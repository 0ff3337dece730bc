"""The options that methods share, and how a user's options become a frozen dataclass."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from crowdwise.errors import InputError


@dataclass(frozen=True)
class Iterative:
    """Options of every method that iterates."""

    max_iterations: int = 100
    tolerance: float = 1e-6  # stop when a step gains less per label; negative: never stop early
    threads: int | None = None  # None: as many as there are cores, up to eight


O = TypeVar("O")  # noqa: E741


def build(options_type: type[O], method: str, given: dict[str, Any]) -> O:
    """The options dataclass from keyword arguments, or an InputError that lists what exists."""
    known = {field.name: field for field in fields(options_type)}  # type: ignore[arg-type]
    for name, value in given.items():
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise InputError(f"{method} has no option {name!r}; its options are: {listed}")
        _check(method, name, value, str(known[name].type))
    return options_type(**given)


def _check(method: str, name: str, value: Any, kind: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind.startswith("int"):
        least = 0.0 if name == "seed" else 1.0
        fine = isinstance(value, int) and number and value >= least
        wanted = f"a whole number from {least:.0f}"
        if kind == "int | None":
            fine = fine or value is None
    elif kind == "float":
        least = -math.inf if name == "tolerance" else 0.0
        fine = number and value >= least and not math.isnan(value) and value != math.inf
        wanted = "a number" if name == "tolerance" else "a number from 0"
    elif kind == "bool":
        fine, wanted = isinstance(value, bool), "True or False"
    else:
        fine, wanted = isinstance(value, str), "a word"
    if not fine:
        raise InputError(f"{method}: {name}={value!r} is no good; give {wanted}")
