"""Devices and precision by Lightning Fabric, and randomness that comes from one seed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.modules.dropout import _DropoutNd

from crowdwise.batches import ALONE, Ranks
from crowdwise.engine.memory import keep_freed_memory
from crowdwise.errors import InputError
from crowdwise.methods.base import Method

if TYPE_CHECKING:
    from lightning_fabric import Fabric


MEETING = timedelta(minutes=30)  # until all processes have read their data
PATIENCE = timedelta(seconds=45)  # with one that does not answer, once they have met


def make_fabric(
    precision: Literal["fp32", "bf16"] = "fp32",
    accelerator: str = "auto",
    devices: int = 1,
    nodes: int = 1,
) -> Fabric:
    """A Fabric for these devices; bf16 means mixed precision in the backbones only.

    Under torchrun, its processes are the devices. Each device but the first gets a process of its
    own, which `join` starts.
    """
    from lightning_fabric import Fabric
    from lightning_fabric.strategies.ddp import DDPStrategy

    kind = {"fp32": "32-true", "bf16": "bf16-mixed"}[precision]
    if "TORCHELASTIC_RUN_ID" in os.environ:
        devices = int(os.environ["LOCAL_WORLD_SIZE"])
        nodes = int(os.environ["WORLD_SIZE"]) // devices
    for name, count in (("devices", devices), ("nodes", nodes)):
        if count < 1:
            raise InputError(f"{name} is {count}; give 1 or more")
    strategy = DDPStrategy(timeout=MEETING) if devices * nodes > 1 else "auto"
    with _quiet("lightning_fabric"):  # it announces mixed precision on stderr
        return Fabric(
            accelerator=accelerator,
            strategy=strategy,
            devices=devices,
            num_nodes=nodes,
            precision=kind,  # type: ignore[arg-type]
        )


def join(fabric: Fabric) -> Ranks:
    """Meet the other processes, started here if they are not running yet."""
    if fabric.world_size == 1:
        return ALONE
    if not dist.is_initialized():
        with _quiet("lightning_fabric"):
            fabric.launch()
    group = dist.new_group(timeout=PATIENCE)
    return Ranks(fabric.global_rank, fabric.world_size, group)


def is_first() -> bool:
    """Is this the process that speaks and writes? Told by what its starter left it."""
    said = (os.environ.get(name, "0") for name in ("RANK", "LOCAL_RANK", "NODE_RANK"))
    return all(number in ("", "0") for number in said)


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def place(fabric: Fabric, module: nn.Module, ranks: Ranks = ALONE) -> None:
    """Move a module to the device, its backbones under the precision's autocast.

    With several ranks, batch norm is over all of them, and what backbones draw is each one's own.
    Convolutions keep their weights channels last, and what flows through a net is laid out so too:
    on a processor that took a seventh off a ResNet-34's time in fp32, and nothing off bf16's.
    """
    fabric.to_device(module)
    if any(isinstance(part, nn.Conv2d) for part in module.modules()):
        keep_freed_memory()
    for part in module.modules():
        if isinstance(part, nn.Conv2d):
            part.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if hasattr(part, "autocast"):
            part.autocast = _context(fabric, part, ranks)
        if hasattr(part, "everyone"):
            part.everyone = ranks if ranks.size > 1 else None  # type: ignore[assignment]
        if isinstance(part, Method):
            part.ranks = ranks


def _context(fabric: Fabric, part: nn.Module, ranks: Ranks) -> Any:
    if ranks.size == 1 or not _may_draw(part):
        return fabric.autocast

    @contextmanager
    def own_draws_under_autocast() -> Iterator[None]:
        with ExitStack() as stack:
            if part.training:
                stack.enter_context(ranks.own_draws())
            stack.enter_context(fabric.autocast())
            yield

    return own_draws_under_autocast


def _may_draw(net: nn.Module) -> bool:
    """Dropout draws; of layers that are neither torch's nor ours nobody knows."""
    known = ("torch.nn.", "crowdwise.")
    return any(
        (isinstance(part, _DropoutNd) and part.p > 0) or not type(part).__module__.startswith(known)
        for part in net.modules()
    )


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
