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


class CrowdGradients(NamedTuple):
    """The crowd loss, its gradients, and the steps on the way that `crowd_gradients_along` uses."""

    loss: Tensor  # ()
    dz: Tensor  # (B, C) with respect to the logits
    ds: Tensor  # (L, C) with respect to the annotator logits: weight (a - e_y)
    p: Tensor  # (B, C)
    p_l: Tensor  # (L, C), p[row]
    a: Tensor  # (L, C)
    a_y: Tensor  # (L,), a[y]
    weight: Tensor  # (L,), a[y] / (a[y] + eps) / L

    @property
    def dt(self) -> Tensor:
        """With respect to each label's confusion (L, C, C): an outer product; see `scatter`."""
        return self.p_l[:, :, None] * self.ds[:, None, :]


def crowd_gradients(
    z: Tensor,
    t: Tensor,
    row: Tensor,
    label: Tensor,
    eps: float = 0.0,
    n_labels: int | None = None,
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
        n_labels: what the sum over labels is divided by, if not L: when several models' items and
            labels lie end to end, the loss is the sum of theirs.

    Example:
        >>> z, t = torch.zeros(1, 2), torch.eye(2)[None]
        >>> crowd_gradients(z, t, torch.tensor([0]), torch.tensor([1])).dz.tolist()
        [[0.25, -0.25]]
    """
    L = n_labels or len(label)
    p, _ = _softmax(z)
    p_l = p.index_select(0, row)
    a, log_a = _softmax(_row_times(p_l, t), label)
    a_y = _at(a, label)
    if eps:
        weight, loss = a_y / ((a_y + eps) * L), -(a_y + eps).log().sum() / L
    else:
        weight, loss = a_y.new_full(a_y.shape, 1 / L), -log_a.sum() / L
    ds = weight[:, None] * (a - _one_hot(label, a))
    dp = torch.zeros_like(p).index_add_(0, row, _times(t, ds))
    dz = p * (dp - (p * dp).sum(dim=1, keepdim=True))
    return CrowdGradients(loss, dz, ds, p, p_l, a, a_y, weight)


def crowd_gradients_along(
    crowd: CrowdGradients, u: Tensor, t: Tensor, row: Tensor, label: Tensor, eps: float = 0.0
) -> Tensor:
    """d/dε of `dt` at z + εu: one forward-mode product over the observed labels, (L, C, C).

    This is all that the meta gradient needs of the second derivative of the crowd loss.

    Args:
        crowd: what `crowd_gradients` gave for z and the other arguments.
        u: (B, C) direction in which the logits move.
    """
    p, p_l, a = crowd.p, crowd.p_l, crowd.a
    p_dot_l = (p * (u - (p * u).sum(dim=1, keepdim=True))).index_select(0, row)
    s_dot = _row_times(p_dot_l, t)
    log_a_dot = s_dot - (a * s_dot).sum(dim=1, keepdim=True)
    ds_dot = crowd.weight[:, None] * a * log_a_dot
    if eps:  # the weight moves too: d log(weight) = eps / (a[y] + eps) · d log(a[y])
        turn = _at(log_a_dot, label) * eps / (crowd.a_y + eps)
        ds_dot = ds_dot + turn[:, None] * crowd.ds
    return torch.addcmul(
        p_dot_l[:, :, None] * crowd.ds[:, None, :], p_l[:, :, None], ds_dot[:, None, :]
    )


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
        crowd = crowd_gradients(z, T.index_select(0, annotator), row, label, eps)
        ctx.save_for_backward(crowd.dz, scatter(crowd.dt, annotator, len(T)))
        return crowd.loss

    @staticmethod
    def backward(
        ctx: torch.autograd.function.FunctionCtx, upstream: Tensor
    ) -> tuple[Tensor | None, ...]:
        dz, dT = ctx.saved_tensors  # type: ignore[attr-defined]
        return upstream * dz, upstream * dT, None, None, None, None


def _softmax(s: Tensor, label: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """softmax of the rows of s (L, C), and the logarithm of its entry at `label` (L,).

    PyTorch's own takes eight times as long on rows of ten, on a CPU.
    """
    s = s - s.amax(dim=1, keepdim=True)
    e = s.exp()
    total = e.sum(dim=1, keepdim=True)
    log_a = total if label is None else _at(s, label) - total[:, 0].log()
    return e / total, log_a


def _one_hot(label: Tensor, like: Tensor) -> Tensor:
    return torch.zeros_like(like).scatter_(1, label[:, None], 1.0)


def _row_times(rows: Tensor, t: Tensor) -> Tensor:
    """rows (L, C) times t (L, C, C) from the left: (L, C)."""
    return torch.bmm(rows[:, None, :], t)[:, 0]


def _times(t: Tensor, columns: Tensor) -> Tensor:
    """t (L, C, C) times columns (L, C): (L, C)."""
    return torch.bmm(t, columns[:, :, None])[:, :, 0]


def _at(values: Tensor, label: Tensor) -> Tensor:
    """values[l, label[l]] for every l: (L,)."""
    return values.gather(1, label[:, None])[:, 0]
