"""Inputs that stay in their file: a batch reads its rows, and nothing else is kept in memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from crowdwise.batches.source import Source, TensorSource, as_float, as_tensor

SPAN = 2**27  # bytes of rows gathered together
HELD = 2**29  # bytes of the file mapped at once
AROUND = 2**16  # bytes that the kernel maps around one that is touched


class MappedSource(Source):
    """The rows of a memory-mapped array, of any size.

    A span of the epoch is gathered in one pass through the file, in the order of its rows; what
    the pass has mapped is given back as it goes, so that the process never holds the file. The
    kernel's page cache does, as far as there is room.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     np.save(f"{folder}/x.npy", np.eye(3))
        ...     source = MappedSource(np.load(f"{folder}/x.npy", mmap_mode="r"))
        ...     source.take(torch.tensor([2, 0])).tolist()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    def __init__(self, rows: np.memmap, device: torch.device | str = "cpu") -> None:
        self.rows = rows
        self.device = torch.device(device)
        self.item_shape = tuple(rows.shape[1:])
        self._bytes = max(1, rows.dtype.itemsize * int(np.prod(self.item_shape)))
        self._piece = max(1, HELD // max(self._bytes, AROUND))  # rows that may map so much
        self._touched = 0  # rows since the last were given back
        self._kind = rows.dtype.newbyteorder("=")
        as_tensor(np.empty(0, self._kind))  # refused here if they are no numbers

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, item: Tensor) -> Tensor:
        return self._to_device(self._gather(item.cpu().numpy()))

    def batches(self, order: Tensor, batch_size: int) -> Iterator[Tensor]:
        span = max(1, SPAN // self._bytes // batch_size) * batch_size
        for items in torch.split(order, span):
            for part in torch.split(self._gather(items.cpu().numpy()), batch_size):
                yield self._to_device(part)

    def not_finite(self) -> int | None:
        if self.rows.dtype.kind != "f":
            return None
        size = max(1, SPAN // self._bytes)
        for start in range(0, len(self), size):
            part = self.rows[start : start + size].reshape(-1, self._bytes // self.rows.itemsize)
            if not (np.isfinite(part.min()) and np.isfinite(part.max())):
                return start + int((~np.isfinite(part)).any(axis=1).argmax())
            self._give_back()
        return None

    def _gather(self, item: np.ndarray) -> Tensor:
        """Rows in the order asked for, read in the order of the file."""
        order = np.argsort(item, kind="stable")
        values = np.empty((len(item), *self.item_shape), self._kind)
        for piece in np.split(order, range(self._piece, len(order), self._piece)):
            values[piece] = self.rows[item[piece]]
            self._touched += len(piece)
            if self._touched >= self._piece:
                self._give_back()
        return as_tensor(values)

    def _to_device(self, values: Tensor) -> Tensor:
        return as_float(values.to(self.device))

    def _give_back(self) -> None:
        """Unmap what was read. Pages others wrote to are the file's and stay; so does the cache."""
        self._touched = 0
        mapping: Any = getattr(self.rows, "_mmap", None)
        if self.rows.mode in ("r", "r+") and hasattr(mapping, "madvise"):
            mapping.madvise(mmap.MADV_DONTNEED)


def source_of(x: np.ndarray | Tensor | Source, device: torch.device | str = "cpu") -> Source:
    """What is memory-mapped stays in its file, any other array lives on the device."""
    if isinstance(x, Source):
        return x
    return MappedSource(x, device) if isinstance(x, np.memmap) else TensorSource(x, device)
