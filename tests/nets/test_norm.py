"""Batch norm: PyTorch's own, except where a single value has no variance."""

import pytest
import torch
from torch import nn

from crowdwise.nets.norm import BatchNorm1d, BatchNorm2d

PAIRS = [(BatchNorm1d, nn.BatchNorm1d, (3,)), (BatchNorm2d, nn.BatchNorm2d, (3, 1, 1))]


@pytest.mark.parametrize(("ours", "theirs", "shape"), PAIRS)
def test_two_rows_and_more_go_through_pytorchs_own(
    ours: type[nn.Module], theirs: type[nn.Module], shape: tuple[int, ...]
) -> None:
    ours_norm, theirs_norm = ours(3), theirs(3)
    x = torch.randn(4, *shape)
    torch.testing.assert_close(ours_norm(x), theirs_norm(x))
    torch.testing.assert_close(ours_norm.state_dict(), theirs_norm.state_dict())


@pytest.mark.parametrize(("ours", "theirs", "shape"), PAIRS)
def test_one_row_in_training_is_what_it_is_in_evaluation(
    ours: type[nn.Module], theirs: type[nn.Module], shape: tuple[int, ...]
) -> None:
    norm = ours(3)
    norm(torch.randn(8, *shape) * 2 + 1)
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    x = torch.randn(1, *shape)
    trained = norm(x)
    torch.testing.assert_close(norm.state_dict(), before)  # the statistics stay
    torch.testing.assert_close(trained, norm.eval()(x))
    with pytest.raises(ValueError, match="more than 1 value"):
        theirs(3)(x)
