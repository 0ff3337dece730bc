"""A linear layer whose large products run in oneDNN."""

from torch import Tensor, is_autocast_enabled, nn
from torch.nn.functional import linear

from crowdwise.functional.product import product, suits


class Linear(nn.Linear):
    """x Wᵀ + b, as `nn.Linear`, which it is to everybody who asks.

    Example:
        >>> import torch
        >>> Linear(4, 3)(torch.zeros(2, 4)).shape
        torch.Size([2, 3])
    """

    def forward(self, x: Tensor) -> Tensor:
        if not suits(x, self.weight.T) or is_autocast_enabled(x.device.type):
            return linear(x, self.weight, self.bias)
        z = product(x, self.weight.T)
        return z if self.bias is None else z + self.bias
