"""Batch normalisation that survives a batch of one."""

import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


class BatchNorm1d(nn.BatchNorm1d):
    """Batch norm over (B, D); one single row is normalised by the running statistics."""

    def forward(self, x: Tensor) -> Tensor:
        return _by_running_statistics(self, x) if _one_value_each(self, x) else super().forward(x)


class BatchNorm2d(nn.BatchNorm2d):
    """Batch norm over (B, D, H, W); one single pixel is normalised by the running statistics."""

    def forward(self, x: Tensor) -> Tensor:
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
