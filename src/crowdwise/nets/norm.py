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


def _one_value_each(norm: _BatchNorm, x: Tensor) -> bool:
    # A single value has no variance: PyTorch raises there, in training, where we go on.
    return norm.training and x.numel() == x.shape[1]


def _by_running_statistics(norm: _BatchNorm, x: Tensor) -> Tensor:
    return F.batch_norm(
        x, norm.running_mean, norm.running_var, norm.weight, norm.bias, training=False, eps=norm.eps
    )
