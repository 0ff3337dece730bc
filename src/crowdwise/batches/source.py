"""Where inputs come from: a tensor that stays on the device, or a data set that is streamed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Subset

from crowdwise.errors import InputError


class Source(ABC):
    """Items by number, as float tensors on one device."""

    item_shape: tuple[int, ...]

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, item: Tensor) -> Tensor:
        """The items with these numbers, (len(item), …)."""

    @abstractmethod
    def batches(self, order: Tensor, batch_size: int) -> Iterator[Tensor]:
        """The items in `order`, batch by batch."""

    def not_finite(self) -> int | None:
        """The first item with a value that is NaN or infinite, where looking at all is cheap."""
        return None


class TensorSource(Source):
    """A tensor kept whole on the device: no worker processes, no copies but the batch itself."""

    def __init__(self, x: np.ndarray | Tensor, device: torch.device | str = "cpu") -> None:
        self.values = (x if isinstance(x, Tensor) else as_tensor(np.asarray(x))).to(device)
        self.item_shape = tuple(self.values.shape[1:])

    def not_finite(self) -> int | None:
        if not self.values.is_floating_point() or self.values.numel() == 0:
            return None
        if all(bool(edge.isfinite()) for edge in torch.aminmax(self.values)):  # no copy of values
            return None
        finite = self.values.isfinite().flatten(1).all(dim=1)
        return int((~finite).nonzero()[0])

    def __len__(self) -> int:
        return len(self.values)

    def take(self, item: Tensor) -> Tensor:
        return as_float(self.values.index_select(0, item))

    def batches(self, order: Tensor, batch_size: int) -> Iterator[Tensor]:
        return (self.take(item) for item in torch.split(order, batch_size))


class StreamSource(Source):
    """A map-style data set of tensors (an image folder, say) read by worker processes.

    Draws nothing from torch's own stream, so that training is the same as on a tensor.
    """

    def __init__(
        self, dataset: Dataset[Tensor], device: torch.device | str = "cpu", workers: int = 0
    ) -> None:
        self.dataset = dataset
        self.device = torch.device(device)
        self.workers = workers
        self.item_shape = tuple(dataset[0].shape)

    def __len__(self) -> int:
        return len(self.dataset)  # type: ignore[arg-type]

    def take(self, item: Tensor) -> Tensor:
        values = [self.dataset[i] for i in item.tolist()]
        return as_float(torch.stack(values).to(self.device))

    def batches(self, order: Tensor, batch_size: int) -> Iterator[Tensor]:
        loader = DataLoader(
            Subset(self.dataset, order.tolist()),
            batch_size,
            num_workers=self.workers,
            generator=torch.Generator(),
        )
        try:
            for x in loader:
                yield as_float(x.to(self.device))
        except InputError as error:  # from a worker it comes wrapped in that worker's traceback
            raise InputError(str(error).strip().rpartition("InputError: ")[2]) from error


def as_tensor(x: np.ndarray) -> Tensor:
    """NumPy's float64 is a habit, not a wish: nets compute in torch's default, float32."""
    try:
        values = torch.as_tensor(x)
    except (TypeError, ValueError) as error:
        raise InputError(f"features must be one array of numbers: {error}") from error
    return values.to(torch.get_default_dtype()) if values.dtype == torch.float64 else values


def as_float(x: Tensor) -> Tensor:
    return x if x.dtype in (torch.float32, torch.float64) else x.float()
