"""The crowd's loss and its derivatives against the definition written out, in float64."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from crowdwise.functional.crowd import (
    crowd_gradients,
    crowd_gradients_along,
    crowd_nll,
    scatter,
)

sizes = st.tuples(
    st.integers(1, 5),  # B
    st.integers(1, 9),  # L
    st.integers(1, 4),  # R
    st.integers(2, 5),  # C
    st.sampled_from([0.0, 1e-5, 0.1]),  # eps
    st.integers(0, 99),  # seed
)


def problem(
    B: int, L: int, R: int, C: int, seed: int
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """z, u (B, C), T (R, C, C), row, annotator, label (L,)."""
    g = torch.Generator().manual_seed(seed)
    z, u = torch.randn(2, B, C, generator=g, dtype=torch.float64)
    T = torch.eye(C) + torch.randn(R, C, C, generator=g, dtype=torch.float64)
    row = torch.randint(B, (L,), generator=g).sort().values
    annotator = torch.randint(R, (L,), generator=g)
    return z, u, T, row, annotator, torch.randint(C, (L,), generator=g)


def written_out(
    z: Tensor, T: Tensor, row: Tensor, annotator: Tensor, label: Tensor, eps: float
) -> Tensor:
    """-(1/L) Σ_l log( softmax(p_i T^r)[y] + eps ), one label at a time."""
    total = z.new_zeros(())
    for i, r, y in zip(row.tolist(), annotator.tolist(), label.tolist(), strict=True):
        p = torch.exp(z[i]) / torch.exp(z[i]).sum()
        s = torch.stack([sum(p[c] * T[r, c, q] for c in range(len(p))) for q in range(len(p))])
        a = torch.exp(s) / torch.exp(s).sum()
        total = total - torch.log(a[y] + eps)
    return total / len(label)


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)


@given(sizes)
def test_loss_and_gradients_are_those_of_the_definition(
    size: tuple[int, int, int, int, float, int],
) -> None:
    *shape, eps, seed = size
    z, _, T, row, annotator, label = problem(*shape, seed)
    z.requires_grad_()
    T.requires_grad_()
    slow = written_out(z, T, row, annotator, label, eps)
    dz, dT = torch.autograd.grad(slow, (z, T))

    fast = crowd_gradients(z.detach(), T.detach()[annotator], row, label, eps)
    close(fast.loss, slow.detach())
    close(fast.dz, dz)
    close(scatter(fast.dt, annotator, len(T)), dT)

    loss = crowd_nll(z, T, row, annotator, label, eps)
    for mine, theirs in zip(torch.autograd.grad(3 * loss, (z, T)), (dz, dT), strict=True):
        close(mine, 3 * theirs)


@given(sizes)
def test_the_derivative_along_u_is_that_of_the_definition(
    size: tuple[int, int, int, int, float, int],
) -> None:
    *shape, eps, seed = size
    z, u, T, row, annotator, label = problem(*shape, seed)
    t = T[annotator].requires_grad_()
    z.requires_grad_()
    each = torch.arange(len(label))  # every label has a confusion of its own
    loss = written_out(z, t, row, each, label, eps)
    (dt,) = torch.autograd.grad(loss, t, create_graph=True)
    # <d/dε dt, v> for every v is the gradient of <dt, v> along u: transpose twice
    v = torch.zeros_like(dt, requires_grad=True)
    (back,) = torch.autograd.grad(dt, z, v, create_graph=True)
    (along,) = torch.autograd.grad(back, v, u)

    z, t = z.detach(), t.detach()
    crowd = crowd_gradients(z, t, row, label, eps)
    close(crowd_gradients_along(crowd, u, t, row, label, eps), along)


@given(sizes)
def test_gradients_agree_with_finite_differences(
    size: tuple[int, int, int, int, float, int],
) -> None:
    *shape, eps, seed = size
    z, u, T, row, annotator, label = problem(*shape, seed)
    h = 1e-5

    def at(step: float) -> tuple[Tensor, Tensor]:
        moved = crowd_gradients(z + step * u, T[annotator], row, label, eps)
        return moved.loss, moved.dt

    (above, dt_above), (below, dt_below) = at(h), at(-h)
    here = crowd_gradients(z, T[annotator], row, label, eps)
    slope = (here.dz * u).sum()
    torch.testing.assert_close(slope, (above - below) / (2 * h), rtol=1e-6, atol=1e-8)
    along = crowd_gradients_along(here, u, T[annotator], row, label, eps)
    torch.testing.assert_close(along, (dt_above - dt_below) / (2 * h), rtol=1e-6, atol=1e-8)


@given(sizes, st.integers(1, 3))
def test_models_laid_end_to_end_have_the_gradients_they_have_alone(
    size: tuple[int, int, int, int, float, int], K: int
) -> None:
    *shape, eps, seed = size
    z, _, T, row, annotator, label = problem(*shape, seed)
    each = [(z + k, T * (k + 1)) for k in range(K)]
    alone = [crowd_gradients(z, T[annotator], row, label, eps) for z, T in each]
    together = crowd_gradients(
        torch.cat([z for z, _ in each]),
        torch.cat([T[annotator] for _, T in each]),
        torch.cat([row + k * len(z) for k in range(K)]),
        label.repeat(K),
        eps,
        n_labels=len(label),
    )
    close(together.loss, torch.stack([one.loss for one in alone]).sum())
    close(together.dz, torch.cat([one.dz for one in alone]))
    close(together.dt, torch.cat([one.dt for one in alone]))


def test_only_observed_annotators_get_a_gradient() -> None:
    z, _, T, row, _, label = problem(3, 6, 4, 3, seed=1)
    T.requires_grad_()
    crowd_nll(z, T, row, torch.full_like(row, 2), label).backward()
    assert T.grad is not None
    assert T.grad.abs().sum(dim=(1, 2)).bool().tolist() == [False, False, True, False]


def test_extreme_logits_stay_finite() -> None:
    z = torch.tensor([[1e4, -1e4, 0.0]])
    T = torch.eye(3)[None] * 1e3
    one = torch.tensor([0])
    for eps in (0.0, 1e-5):
        found = crowd_gradients(z, T, one, torch.tensor([1]), eps)
        assert all(value.isfinite().all() for value in found)
        assert (
            crowd_gradients_along(found, z.flip(1), T, one, torch.tensor([1]), eps).isfinite().all()
        )


def test_scatter_sums_by_index() -> None:
    values = torch.arange(6.0).reshape(3, 2)
    assert scatter(values, torch.tensor([1, 1, 3]), 4).tolist() == [[0, 0], [2, 4], [0, 0], [4, 5]]
