"""The loss of the crowd's labels, its gradients in closed form, and their derivative along z + εu.

Only observed labels are ever touched. L labels of B items in a batch, C classes:

    p_i = softmax(z_i)             (B, C)   what the classifier believes of item i
    s_l = p_row(l) t_l             (L, C)   annotator logits; t_l (C, C) its confusion
    a_l = softmax(s_l)             (L, C)
    loss = -(1/L) Σ_l log(a_l[y_l] + eps)
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, one_hot


class CrowdGradients(NamedTuple):
    """The crowd loss and its gradients with respect to logits and to each label's confusion."""

    loss: Tensor  # ()
    dz: Tensor  # (B, C)
    dt: Tensor  # (L, C, C), one outer product a label; `scatter` sums them by annotator or group


def crowd_gradients(
    z: Tensor, t: Tensor, row: Tensor, label: Tensor, eps: float = 0.0
) -> CrowdGradients:
    """Gradients of the crowd loss, O(L · C²) whatever the number of annotators.

    With w_l = a_l[y] / (a_l[y] + eps) / L, ds_l = w_l (a_l - e_y), dt_l = p_row ⊗ ds_l,
    dp_i = Σ_{l of i} t_l ds_l and dz_i = p_i ∘ (dp_i - <p_i, dp_i>).

    Args:
        z: (B, C) logits of the classifier.
        t: (L, C, C) confusion of the annotator of each label, T[annotator] (+ V[group]).
        row: (L,) which of the B items the label is of.
        label: (L,) class given.
        eps: added to the probability before the logarithm.

    Example:
        >>> z, t = torch.zeros(1, 2), torch.eye(2)[None]
        >>> loss, dz, dt = crowd_gradients(z, t, torch.tensor([0]), torch.tensor([1]))
        >>> dz.tolist()
        [[0.25, -0.25]]
    """
    p = z.softmax(dim=1)
    p_l = p[row]
    a, weight, loss = _annotator_shares(p_l, t, label, eps)
    ds = weight[:, None] * (a - one_hot(label, a.shape[1]))
    dp = torch.zeros_like(p).index_add_(0, row, _times(t, ds))
    dz = p * (dp - (p * dp).sum(dim=1, keepdim=True))
    return CrowdGradients(loss, dz, p_l[:, :, None] * ds[:, None, :])


def crowd_gradients_along(
    z: Tensor, u: Tensor, t: Tensor, row: Tensor, label: Tensor, eps: float = 0.0
) -> Tensor:
    """d/dε of `dt` at z + εu: one forward-mode product over the observed labels, (L, C, C).

    This is all that the meta gradient needs of the second derivative of the crowd loss.

    Args:
        z, t, row, label, eps: as in `crowd_gradients`.
        u: (B, C) direction in which the logits move.
    """
    C = z.shape[1]
    p = z.softmax(dim=1)
    p_dot = p * (u - (p * u).sum(dim=1, keepdim=True))
    p_l, p_dot_l = p[row], p_dot[row]
    a, weight, _ = _annotator_shares(p_l, t, label, eps)
    s_dot = _row_times(p_dot_l, t)
    a_dot = a * (s_dot - (a * s_dot).sum(dim=1, keepdim=True))
    miss = a - one_hot(label, C)
    ds = weight[:, None] * miss
    ds_dot = weight[:, None] * a_dot
    if eps:
        a_y, a_y_dot = _at(a, label), _at(a_dot, label)
        weight_dot = a_y_dot * eps / (a_y + eps) ** 2 / len(label)
        ds_dot = ds_dot + weight_dot[:, None] * miss
    return p_dot_l[:, :, None] * ds[:, None, :] + p_l[:, :, None] * ds_dot[:, None, :]


def scatter(values: Tensor, index: Tensor, size: int) -> Tensor:
    """Sum values (L, …) into (size, …) by index (L,).

    Example:
        >>> scatter(torch.ones(3), torch.tensor([0, 2, 2]), 3).tolist()
        [1.0, 0.0, 2.0]
    """
    return values.new_zeros(size, *values.shape[1:]).index_add_(0, index, values)


def crowd_nll(
    z: Tensor, T: Tensor, row: Tensor, annotator: Tensor, label: Tensor, eps: float = 0.0
) -> Tensor:
    """The crowd loss as a scalar that backpropagates to z (B, C) and T (R, C, C), once.

    Example:
        >>> one, T = torch.tensor([0]), torch.eye(2)[None]
        >>> float(crowd_nll(torch.zeros(1, 2), T, one, one, one))  # ln 2
        0.6931471824645996
    """
    loss: Tensor = _CrowdNLL.apply(z, T, row, annotator, label, eps)  # type: ignore[no-untyped-call]
    return loss


class _CrowdNLL(torch.autograd.Function):
    """Hands the closed-form gradients to autograd, so that they are computed with the loss."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        z: Tensor,
        T: Tensor,
        row: Tensor,
        annotator: Tensor,
        label: Tensor,
        eps: float,
    ) -> Tensor:
        loss, dz, dt = crowd_gradients(z, T[annotator], row, label, eps)
        ctx.save_for_backward(dz, scatter(dt, annotator, len(T)))
        return loss

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, upstream: Tensor
    ) -> tuple[Tensor | None, ...]:
        dz, dT = ctx.saved_tensors  # type: ignore[attr-defined]
        return upstream * dz, upstream * dT, None, None, None, None


def _annotator_shares(
    p_l: Tensor, t: Tensor, label: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """a (L, C), the weight of each label in the gradient (L,), and the mean loss."""
    log_a = log_softmax(_row_times(p_l, t), dim=1)
    a = log_a.exp()
    L = len(label)
    if eps == 0:
        return a, a.new_full((L,), 1 / L), -_at(log_a, label).mean()
    a_y = _at(a, label)
    return a, a_y / (a_y + eps) / L, -(a_y + eps).log().mean()


def _row_times(rows: Tensor, t: Tensor) -> Tensor:
    """rows (L, C) times t (L, C, C) from the left: (L, C)."""
    return torch.bmm(rows[:, None, :], t)[:, 0]


def _times(t: Tensor, columns: Tensor) -> Tensor:
    """t (L, C, C) times columns (L, C): (L, C)."""
    return torch.bmm(t, columns[:, :, None])[:, :, 0]


def _at(values: Tensor, label: Tensor) -> Tensor:
    """values[l, label[l]] for every l: (L,)."""
    return values.gather(1, label[:, None])[:, 0]
