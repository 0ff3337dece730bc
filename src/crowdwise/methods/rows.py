"""Adam for a table of which every iteration touches a few rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor
from torch.optim import Optimizer


class RowAdam(Optimizer):
    """Adam on the rows that have a gradient, in O(rows touched); the others stay, moments and all.

    What `torch.optim.SparseAdam` computes, in less time: gradients are sparse tensors with one
    sparse dimension, and rows may be named twice. With a gradient for every row it is Adam.

    Args:
        parameters: tensors (R, …).
        lr: the learning rate.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step down the sparse gradients."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._step(weight, group["lr"], group["betas"], group["eps"])

    def _step(self, weight: Tensor, lr: float, betas: tuple[float, float], eps: float) -> None:
        beta1, beta2 = betas
        state = self.state[weight]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"] = torch.zeros_like(weight)
            state["exp_avg_sq"] = torch.zeros_like(weight)
        assert weight.grad is not None
        rows, place = torch.unique(weight.grad._indices()[0], return_inverse=True)
        values = weight.grad._values()
        g = values.new_zeros(len(rows), *weight.shape[1:]).index_add_(0, place, values)

        state["step"] += 1
        n = float(state["step"])
        m = state["exp_avg"].index_select(0, rows).lerp_(g, 1 - beta1)
        v = state["exp_avg_sq"].index_select(0, rows).mul_(beta2).addcmul_(g, g, value=1 - beta2)
        state["exp_avg"].index_copy_(0, rows, m)
        state["exp_avg_sq"].index_copy_(0, rows, v)
        root = v.sqrt_().div_((1 - beta2**n) ** 0.5).add_(eps)
        weight.index_add_(0, rows, m.div_(root), alpha=-lr / (1 - beta1**n))
