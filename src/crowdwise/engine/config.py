"""What a run's config.json says, every value checked before anything is built from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crowdwise.batches import CrowdShape
from crowdwise.errors import InputError


@dataclass(frozen=True)
class Config:
    """Enough to build a trained model again.

    Example:
        >>> config = Config("mlp", {"method": "ccc"}, {"epochs": 2}, [8], 3, ["no", "yes"])
        >>> Config.read("run", config.to_json()).shape
        CrowdShape(input=(8,), n_annotators=3, n_classes=2)
    """

    net: str
    parameters: dict[str, Any]  # of the estimator
    settings: dict[str, Any]  # of the method, every one
    input: list[int]  # shape of one item
    annotators: int
    classes: list[Any]

    @classmethod
    def read(cls, folder: str | Path, said: Mapping[str, Any]) -> Config:
        """A config.json's content, or what is wrong with it."""
        fits = {
            "net": lambda value: isinstance(value, str),
            "parameters": lambda value: isinstance(value, dict),
            "settings": lambda value: isinstance(value, dict),
            "input": lambda value: isinstance(value, list) and all(map(_is_size, value)),
            "annotators": _is_size,
            "classes": _are_classes,
        }
        for name, fit in fits.items():
            if name not in said:
                raise damaged(folder, f"{name} is missing")
            if not fit(said[name]):
                raise damaged(folder, f"{name} is {repr(said[name])[:60]}")
        return cls(**{name: said[name] for name in fits})

    def to_json(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return {**asdict(self), "parameters": plain(self.parameters)}

    @property
    def shape(self) -> CrowdShape:
        return CrowdShape(tuple(self.input), self.annotators, len(self.classes))


def damaged(folder: str | Path, how: str) -> InputError:
    """The error that says what is wrong with config.json."""
    return InputError(f"{folder}/config.json: {how}; the run is damaged")


def _is_size(value: Any) -> bool:
    return type(value) is int and value >= 1


def _are_classes(value: Any) -> bool:
    """A list of different texts, integers or booleans."""
    if not isinstance(value, list) or not value or type(value[0]) not in (str, int, bool):
        return False
    return {type(name) for name in value} == {type(value[0])} and len(set(value)) == len(value)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """NumPy's numbers, as a grid search gives them, as Python's."""
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}
