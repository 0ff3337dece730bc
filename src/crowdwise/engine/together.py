"""Processes that work on shares of one table and tell each other sums; started by torchrun."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray

from crowdwise.errors import InputError, LostProcess

PATIENCE = timedelta(
    minutes=20
)  # a process that ends is noticed at once; this is for one that hangs


@dataclass(frozen=True)
class _Trouble:
    """What a process sends in place of what the others wait for."""

    said: str


class Together:
    """This process among those of one job."""

    def __init__(self) -> None:
        with _answered():
            dist.init_process_group("gloo", timeout=PATIENCE)
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.threads = max(1, (os.cpu_count() or 1) // int(os.environ.get("LOCAL_WORLD_SIZE", 1)))

    def exchange(self, value: Any) -> list[Any]:
        """Every process's value, in order; where one is in trouble, all stop with its sentence."""
        values: list[Any] = [None] * self.size
        with _answered():
            dist.all_gather_object(values, value)
        for found in values:
            if isinstance(found, _Trouble):
                raise _Told(found.said)
        return values

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over all processes, the same bytes in each."""
        summed = torch.from_numpy(np.array(values, dtype=np.float64))
        with _answered():
            dist.all_reduce(summed)
        return np.asarray(summed.numpy())


class _Told(InputError):
    """Trouble that every process knows of."""


@contextmanager
def together() -> Iterator[Together]:
    """Meet the other processes; what stops one of them stops all, with one sentence."""
    job = Together()
    try:
        yield job
    except (_Told, LostProcess):
        raise
    except InputError as error:
        job.exchange(_Trouble(str(error)))
    finally:
        dist.destroy_process_group()


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except (RuntimeError, dist.DistError) as error:
        raise LostProcess(
            "another process of this job has ended or no longer answers "
            f"({str(error).partition(chr(10))[0]:.120}); start the job again"
        ) from error
