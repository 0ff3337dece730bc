"""Batch normalisation that survives a batch of one."""

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


class Everyone(Protocol):
    """The processes that train together, as far as batch norm asks."""

    size: int

    def sum(self, values: Tensor) -> Tensor:
        """The sum over all of them."""

    def total(self, values: Tensor) -> Tensor:
        """The same, differentiable."""


class BatchNorm1d(nn.BatchNorm1d):
    """Batch norm over (B, D); one single row is normalised by the running statistics."""

    everyone: Everyone | None = None  # whose batch it is, where several processes share one

    def forward(self, x: Tensor) -> Tensor:
        if self.training and self.everyone is not None and self.everyone.size > 1:
            return _over_everyone(self, x, self.everyone)
        return _by_running_statistics(self, x) if _one_value_each(self, x) else super().forward(x)


class BatchNorm2d(nn.BatchNorm2d):
    """Batch norm over (B, D, H, W); one single pixel is normalised by the running statistics."""

    everyone: Everyone | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.training and self.everyone is not None and self.everyone.size > 1:
            return _over_everyone(self, x, self.everyone)
        return _by_running_statistics(self, x) if _one_value_each(self, x) else super().forward(x)


OURS: dict[type[nn.Module], type[nn.Module]] = {
    nn.BatchNorm1d: BatchNorm1d,
    nn.BatchNorm2d: BatchNorm2d,
}


def survive_one_row(module: nn.Module) -> nn.Module:
    """Swap every plain BatchNorm1d and 2d inside for ours, weights, buffers and settings kept.

    Example:
        >>> import torch
        >>> survive_one_row(nn.Sequential(nn.BatchNorm1d(3)))(torch.zeros(1, 3)).shape
        torch.Size([1, 3])
    """
    for part in module.modules():
        kind = OURS.get(type(part))
        if kind is not None:
            part.__class__ = kind  # the same layer, hooks and all, with another forward
    return module


def _one_value_each(norm: _BatchNorm, x: Tensor) -> bool:
    # A single value has no variance: PyTorch raises there, in training, where we go on.
    return norm.training and x.numel() == x.shape[1]


def _by_running_statistics(norm: _BatchNorm, x: Tensor) -> Tensor:
    return F.batch_norm(
        x, norm.running_mean, norm.running_var, norm.weight, norm.bias, training=False, eps=norm.eps
    )


def _over_everyone(norm: _BatchNorm, x: Tensor, everyone: Everyone) -> Tensor:
    """Batch norm by the mean and variance of all processes' shares of the batch."""
    wide = x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
    dims = [d for d in range(x.ndim) if d != 1]
    shape = [1, -1, *([1] * (x.ndim - 2))]
    count = wide.new_full((1,), x.numel() / x.shape[1])
    sums = everyone.total(torch.cat([wide.sum(dims), count]))
    n = sums[-1].detach()
    mean = sums[:-1] / n
    centred = wide - mean.view(shape)
    variance = everyone.total(centred.square().sum(dims)) / n
    if norm.running_mean is not None and norm.running_var is not None:
        _remember(norm, mean.detach(), variance.detach() * n / (n - 1))
    y = centred * (variance + norm.eps).rsqrt().view(shape)
    if norm.affine:
        y = y * norm.weight.view(shape) + norm.bias.view(shape)
    return y.to(x.dtype)


def _remember(norm: _BatchNorm, mean: Tensor, variance: Tensor) -> None:
    assert norm.running_mean is not None
    assert norm.running_var is not None
    part: Tensor | float | None = norm.momentum
    if norm.num_batches_tracked is not None:
        norm.num_batches_tracked.add_(1)
        if part is None:  # the plain mean of all batches so far
            part = 1 / norm.num_batches_tracked.to(mean.dtype)
    with torch.no_grad():
        norm.running_mean.lerp_(mean, part or 0.0)
        norm.running_var.lerp_(variance, part or 0.0)
