"""Devices and precision by Lightning Fabric, and randomness that comes from one seed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import torch
from torch import nn

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def make_fabric(precision: Literal["fp32", "bf16"] = "fp32", accelerator: str = "auto") -> Fabric:
    """A Fabric for one device; bf16 means mixed precision in the backbones only."""
    from lightning_fabric import Fabric

    kind = {"fp32": "32-true", "bf16": "bf16-mixed"}[precision]
    with _quiet("lightning_fabric"):  # it announces mixed precision on stderr
        return Fabric(accelerator=accelerator, devices=1, precision=kind)  # type: ignore[arg-type]


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def place(fabric: Fabric, module: nn.Module) -> None:
    """Move a module to the device, its backbones under the precision's autocast."""
    fabric.to_device(module)
    for part in module.modules():
        if hasattr(part, "autocast"):
            part.autocast = fabric.autocast  # type: ignore[assignment]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Everything torch draws inside comes from `seed`; the caller's own stream is left alone.

    Example:
        >>> with seeded(7):
        ...     first = torch.rand(2)
        >>> with seeded(7):
        ...     bool((torch.rand(2) == first).all())
        True
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
