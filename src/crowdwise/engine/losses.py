"""An epoch's losses: summed in the order they came, looked at now and then, never one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

import torch
from torch import Tensor

EVERY = 64  # batches between two looks: each look waits for the device


@dataclass(frozen=True)
class BadLoss(Exception):
    """The first loss that is not finite."""

    name: str
    value: float
    batch: int  # of the epoch, counted from 0


class Losses:
    """Weighted sums of an epoch's losses; the same bytes however often they are looked at.

    Example:
        >>> losses = Losses()
        >>> losses.add({"loss": torch.tensor(2.0)}, weight=3)
        >>> losses.add({"loss": torch.tensor(4.0)}, weight=1)
        >>> losses.means()
        {'loss': 2.5}
    """

    def __init__(
        self, sums: Mapping[str, float] | None = None, weight: int = 0, batches: int = 0
    ) -> None:
        self.sums = dict(sums or {})
        self.weight = weight  # items of the batches summed
        self.batches = batches
        self.first: dict[str, float] = {}  # the losses of the first batch looked at
        self._waiting: list[tuple[dict[str, Tensor], int]] = []

    def add(self, losses: dict[str, Tensor], weight: int) -> None:
        """Take one batch's losses."""
        self._waiting.append((losses, weight))
        if len(self._waiting) == EVERY:
            self.look()

    def look(self) -> dict[str, float]:
        """Read what waits on the device; raises `BadLoss` at the first that is not finite."""
        if not self._waiting:
            return self.sums
        names = list(self._waiting[0][0])
        stacked = torch.stack([losses[name] for losses, _ in self._waiting for name in names])
        values = stacked.double().view(-1, len(names)).tolist()
        for (_, weight), row in zip(self._waiting, values, strict=True):
            self.first = self.first or dict(zip(names, row, strict=True))
            for name, value in zip(names, row, strict=True):
                if not isfinite(value):
                    raise BadLoss(name, value, self.batches)
                self.sums[name] = self.sums.get(name, 0.0) + value * weight
            self.weight += weight
            self.batches += 1
        self._waiting = []
        return self.sums

    def means(self) -> dict[str, float]:
        """Every loss, averaged over the items."""
        return {name: total / self.weight for name, total in self.look().items()}
