"""Max-MIG's loss against its definition over all pairs of items, in float64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from crowdwise.functional.information import information_loss


def written_out(p: Tensor, q: Tensor, prior: Tensor, u: float) -> Tensor:
    B, C = p.shape
    M = [[sum(p[i, c] * q[j, c] / prior[c] for c in range(C)) for j in range(B)] for i in range(B)]
    agree = -sum(1 + torch.log(M[i][i] + u) for i in range(B)) / B
    if B == 1:
        return agree
    return agree + sum(M[i][j] for i in range(B) for j in range(B) if i != j) / (B**2 - B)


def beliefs(B: int, C: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    p, q = torch.randn(2, B, C, generator=g, dtype=torch.float64).mul(2).softmax(dim=2)
    return p, q, torch.randn(C, generator=g, dtype=torch.float64).softmax(dim=0)


@given(st.integers(1, 6), st.integers(2, 5), st.sampled_from([0.0, 5e-5]), st.integers(0, 99))
def test_the_loss_and_both_gradients_are_those_of_the_definition(
    B: int, C: int, u: float, seed: int
) -> None:
    p, q, prior = beliefs(B, C, seed)
    p.requires_grad_()
    q.requires_grad_()
    fast, slow = information_loss(p, q, prior, u), written_out(p, q, prior, u)
    torch.testing.assert_close(fast, slow, rtol=1e-10, atol=1e-12)
    for mine, theirs in zip(
        torch.autograd.grad(fast, (p, q)), torch.autograd.grad(slow, (p, q)), strict=True
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-12)


def test_gradients_agree_with_finite_differences() -> None:
    p, q, prior = beliefs(5, 3, seed=0)
    p.requires_grad_()
    q.requires_grad_()
    assert torch.autograd.gradcheck(lambda p, q: information_loss(p, q, prior, 1e-5), (p, q))


def test_agreement_beats_disagreement_and_a_constant() -> None:
    prior = torch.full((3,), 1 / 3)
    truth = torch.eye(3).repeat(4, 1)
    agreed = information_loss(truth, truth, prior, 1e-4)
    constant = information_loss(prior.expand(12, 3), prior.expand(12, 3), prior, 1e-4)
    opposed = information_loss(truth, truth.roll(1, dims=1), prior, 1e-4)
    assert agreed < constant < opposed
    # two independent beliefs carry no information about each other: the gain is zero
    assert float(constant) == pytest.approx(0, abs=2e-4)
