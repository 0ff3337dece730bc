"""Layers of K fully connected nets computed side by side, in closed form: forward, back, along.

Rows are items: h (K, B, D), or (1, B, D) where all K nets are shown the same batch. A layer keeps
what it saw on the way forward, and with J its derivative there gives both products with J:

    back    dh = Jᵀ dy, and the gradients of its weights
    along   y' = J h' + how y moves when its weights move
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from crowdwise.functional.product import product


class Layer(ABC):
    """One layer on its way forward; `y` is what comes out."""

    y: Tensor  # (K, B, D)

    @abstractmethod
    def back(self, dy: Tensor, further: bool) -> tuple[Tensor | None, list[Tensor]]:
        """dh (None unless it has `further` to go) and the gradients of the layer's weights."""

    @abstractmethod
    def along(self, h_dot: Tensor | None, moves: Sequence[Tensor]) -> Tensor | None:
        """y' for h' and for how the weights move; None stands for zero."""


class Linear(Layer):
    """y = h Wᵀ + b with W (K, O, D) and b (K, O)."""

    def __init__(self, h: Tensor, W: Tensor, b: Tensor) -> None:
        self.h, self.W = h, W
        self.y = _times(h, W) + b[:, None]

    def back(self, dy: Tensor, further: bool) -> tuple[Tensor | None, list[Tensor]]:
        dW = _gradient(dy, self.h)
        return _each(dy, self.W) if further else None, [dW, dy.sum(dim=1)]

    def along(self, h_dot: Tensor | None, moves: Sequence[Tensor]) -> Tensor | None:
        dW, db = moves
        y_dot = _times(self.h, dW) + db[:, None]
        return y_dot if h_dot is None else y_dot + _times(h_dot, self.W)


class ReLU(Layer):
    """y = max(h, 0)."""

    def __init__(self, h: Tensor) -> None:
        self.y = h.relu()
        self.slope = h > 0

    def back(self, dy: Tensor, further: bool) -> tuple[Tensor | None, list[Tensor]]:
        return dy * self.slope, []

    def along(self, h_dot: Tensor | None, moves: Sequence[Tensor]) -> Tensor | None:
        return None if h_dot is None else h_dot * self.slope


class Dropout(Layer):
    """y = h / (1 - share) where kept, else 0; every net has a mask of its own."""

    def __init__(self, h: Tensor, share: float, K: int) -> None:
        self.mask = kept(share, (K, *h.shape[1:]), h)
        self.y = h * self.mask

    def back(self, dy: Tensor, further: bool) -> tuple[Tensor | None, list[Tensor]]:
        return dy * self.mask, []

    def along(self, h_dot: Tensor | None, moves: Sequence[Tensor]) -> Tensor | None:
        return None if h_dot is None else h_dot * self.mask


class Norm(Layer):
    """y = (h - mean) / deviation [· weight + bias], per net and column, by the batch's statistics.

    A batch of one row has no deviation and is normalised by the running statistics.

    Args:
        affine: weight and bias (K, D), or nothing.
        running: mean and variance (K, D).
        momentum: how far the running statistics move, in place; None leaves them.
        total: sums over the processes that share the batch, if there are several.
    """

    def __init__(
        self,
        h: Tensor,
        affine: Sequence[Tensor],
        running: Sequence[Tensor],
        eps: float,
        momentum: float | None,
        total: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        B = h.shape[1] if total is None else total(h.new_tensor(h.shape[1]))
        self.rows, self.total = B, total
        self.by_batch = h.shape[1] > 1 or total is not None
        if self.by_batch:
            mean = self._mean(h)
            centred = h - mean
            variance = self._mean(centred * centred)
            if momentum is not None:
                for old, seen in zip(running, (mean, variance * (B / (B - 1))), strict=True):
                    old.lerp_(seen[:, 0].expand_as(old), momentum)
        else:
            centred, variance = h - running[0][:, None], running[1][:, None]
        self.scale = (variance + eps).rsqrt()
        self.n = centred * self.scale
        self.weight = affine[0][:, None] if affine else None
        self.y = self.n if self.weight is None else self.n * self.weight + affine[1][:, None]

    def back(self, dy: Tensor, further: bool) -> tuple[Tensor | None, list[Tensor]]:
        gradients = []
        if self.weight is not None:
            gradients = [(dy * self.n).sum(dim=1), dy.sum(dim=1)]
            dy = dy * self.weight
        return self._normalised(dy) if further else None, gradients

    def along(self, h_dot: Tensor | None, moves: Sequence[Tensor]) -> Tensor | None:
        y_dot = None if h_dot is None else self._normalised(h_dot)
        if self.weight is None:
            return y_dot
        moved = self.n * moves[0][:, None] + moves[1][:, None]
        return moved if y_dot is None else moved + y_dot * self.weight

    def _normalised(self, v: Tensor) -> Tensor:
        """(v - mean(v) - n mean(n v)) / deviation: the derivative of n, and its own transpose."""
        if not self.by_batch:
            return v * self.scale
        across, along_n = self._mean(v), self._mean(self.n * v)
        return (v - across - self.n * along_n) * self.scale

    def _mean(self, v: Tensor) -> Tensor:
        """Over the batch's rows, of every process."""
        if self.total is None:
            return v.mean(dim=1, keepdim=True)
        return self.total(v.sum(dim=1, keepdim=True)) / self.rows


def kept(share: float, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """A mask that drops `share` of its entries and scales the others up, from 16 bits an entry.

    Example:
        >>> sorted(set(kept(0.5, (4, 50), torch.ones(1)).flatten().tolist()))
        [0.0, 2.0]
    """
    entries = torch.Size(shape).numel()
    bits = torch.empty(-(-entries // 4), dtype=torch.int64, device=like.device)
    bits.random_(-(2**63), None)
    drawn = bits.view(torch.int16)[:entries].view(shape)  # uniform over -32768 … 32767
    mask = (drawn >= round(share * 2**16) - 2**15).to(like.dtype)
    return mask.mul_(1 / (1 - share))


def _times(h: Tensor, W: Tensor) -> Tensor:
    """h Wᵀ for every net: (K or 1, B, D) and (K, O, D) give (K, B, O)."""
    K, out, D = W.shape
    if len(h) == K:
        return _each(h, W.transpose(1, 2))
    together = product(h[0], W.reshape(K * out, D).T)  # (B, K·O): one product for all
    return together.view(-1, K, out).transpose(0, 1)


def _gradient(dy: Tensor, h: Tensor) -> Tensor:
    """dyᵀ h for every net: (K, B, O) and (K or 1, B, D) give (K, O, D)."""
    K, B, out = dy.shape
    if len(h) == K:
        return _each(dy.transpose(1, 2), h)
    return product(dy.transpose(1, 2).reshape(K * out, B), h[0]).view(K, out, -1)


def _each(a: Tensor, b: Tensor) -> Tensor:
    """K products of matrices, one after the other where a single one keeps the machine busy."""
    if a.shape[1] * a.shape[2] * b.shape[2] < 2**22:
        return torch.bmm(a, b)
    return torch.stack([product(*pair) for pair in zip(a, b, strict=True)])
