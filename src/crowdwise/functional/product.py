"""Matrix products that run in oneDNN where it is twice as fast as MKL.

PyTorch hands float32 products to MKL, which keeps to AVX2 on processors that are not Intel's;
oneDNN, which comes with PyTorch as well, uses AVX-512 wherever it is. Results differ in rounding
only.
"""

from typing import Any

import torch
from torch import Tensor

LARGE = 2**23  # multiplications; below, a call costs more than oneDNN gains

_onednn: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)  # a bᵀ
_PAYS = (
    _onednn is not None
    and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    and torch.backends.cpu.get_cpu_capability() == "AVX512"
)


def product(a: Tensor, b: Tensor) -> Tensor:
    """a b for matrices (M, K) and (K, N), by oneDNN where that pays.

    Example:
        >>> product(torch.ones(1, 2), torch.ones(2, 1))
        tensor([[2.]])
    """
    if not suits(a, b):
        return a @ b
    result: Tensor = _Product.apply(a, b)  # type: ignore[no-untyped-call]
    return result


class _Product(torch.autograd.Function):
    """Its derivatives are products again: da = d bᵀ, db = aᵀ d."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        result: Tensor = _onednn(_dense(a), _dense(b.T), None, "none", [], "")
        return result

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, Tensor | None]:
        a, b = ctx.saved_tensors
        left, right = ctx.needs_input_grad
        return (
            product(upstream, b.T) if left else None,
            product(a.T, upstream) if right else None,
        )


def suits(a: Tensor, b: Tensor) -> bool:
    """Is this a product that oneDNN takes, and large enough to pay?"""
    return (
        _PAYS
        and a.dtype == b.dtype == torch.float32
        and a.device.type == "cpu"
        and a.ndim == b.ndim == 2
        and not torch.compiler.is_compiling()
        and not torch.compiler.is_exporting()  # sizes are symbols there, and not to be looked at
        and a.shape[0] * a.shape[1] * b.shape[1] >= LARGE
    )


def _dense(a: Tensor) -> Tensor:
    """Row by row or column by column, as oneDNN reads it; an expanded tensor is written out."""
    return a if a.is_contiguous() or a.T.is_contiguous() else a.contiguous()
