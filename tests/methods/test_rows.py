"""Adam by rows against PyTorch's Adam and SparseAdam."""

from copy import deepcopy

import pytest
import torch
from torch import Tensor
from torch.optim import Adam, SparseAdam

from crowdwise.methods.rows import RowAdam

R, C = 7, 3
pytestmark = pytest.mark.filterwarnings("ignore:Sparse invariant checks")


def sparse(rows: list[int], seed: int) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    values = torch.randn(len(rows), C, generator=g, dtype=torch.float64)
    return torch.sparse_coo_tensor(torch.tensor([rows]), values, (R, C), check_invariants=True)


def weight() -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.ones(R, C, dtype=torch.float64))


def test_with_a_gradient_for_every_row_it_is_adam() -> None:
    mine, theirs = weight(), weight()
    ours, adam = RowAdam([mine], 0.1), Adam([theirs], 0.1)
    for seed in range(5):
        mine.grad = sparse([*range(R), 2, 2, 5], seed)  # a row may be named more than once
        theirs.grad = mine.grad.to_dense()
        ours.step()
        adam.step()
    torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)


def test_it_is_sparse_adam() -> None:
    mine, theirs = weight(), weight()
    ours, adam = RowAdam([mine], 0.1), SparseAdam([theirs], 0.1)
    for seed, rows in enumerate([[0, 1], [1, 4, 1], [6], [0, 6, 3], [1]]):
        mine.grad = theirs.grad = sparse(rows, seed)
        ours.step()
        adam.step()
    # both add 1e-8 to a root, one after its correction for the start and one before
    torch.testing.assert_close(mine, theirs, rtol=1e-6, atol=1e-6)
    assert torch.equal(mine[[2, 5]], torch.ones(2, C, dtype=torch.float64))


def test_a_step_restores_from_its_state() -> None:
    mine, again = weight(), weight()
    one, two = RowAdam([mine], 0.1), RowAdam([again], 0.1)
    mine.grad = sparse([0, 3], 0)
    one.step()
    with torch.no_grad():
        again.copy_(mine)
    two.load_state_dict(deepcopy(one.state_dict()))
    for parameter, optimizer in ((mine, one), (again, two)):
        parameter.grad = sparse([3, 4], 1)
        optimizer.step()
    assert torch.equal(mine, again)


def test_no_gradient_no_step() -> None:
    mine = weight()
    RowAdam([mine], 0.1).step()
    assert torch.equal(mine, torch.ones(R, C, dtype=torch.float64))
