"""Batch norm: PyTorch's own, except where a single value has no variance."""

import pytest
import torch
from torch import nn

from crowdwise.nets import with_head
from crowdwise.nets.norm import BatchNorm1d, BatchNorm2d, survive_one_row

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


class Stem(nn.Sequential):
    """A convolution, its norm and what comes after, as users write them."""

    def __init__(self) -> None:
        norm = nn.BatchNorm2d(4, eps=0.1, momentum=0.5, affine=False)
        super().__init__(nn.Conv2d(1, 4, 3), norm, nn.ReLU(), nn.Flatten(), nn.BatchNorm1d(4))


def test_a_users_norms_are_ours_in_the_copy_and_stay_in_the_original() -> None:
    module = nn.Sequential(Stem(), nn.Linear(4, 2))
    module(torch.randn(9, 1, 3, 3) * 3 + 1)
    module[0][4].weight.data.uniform_()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    net = with_head(module)
    kinds = {
        type(part) for part in net.modules() if isinstance(part, nn.modules.batchnorm._NormBase)
    }
    assert kinds == {BatchNorm1d, BatchNorm2d}
    assert type(module[0][1]) is nn.BatchNorm2d
    ours = net.backbone.get_submodule("0.1")
    assert (ours.eps, ours.momentum, ours.affine) == (0.1, 0.5, False)

    x = torch.randn(5, 1, 3, 3)
    torch.testing.assert_close(net.eval()(x), module.eval()(x))
    torch.testing.assert_close(net.train()(x), module.train()(x))
    for name, value in net.backbone.state_dict().items():
        torch.testing.assert_close(value, module.state_dict()[name])
    assert any(bool((module.state_dict()[n] != v).any()) for n, v in before.items())

    net(x[:1]).sum().backward()  # one item: PyTorch's own raise here
    assert all(p.grad is not None for p in net.parameters())
    with pytest.raises(ValueError, match="more than 1 value"):
        module(x[:1])


def test_norms_of_the_users_own_kind_are_left_alone() -> None:
    class Own(nn.BatchNorm1d):
        pass

    assert type(survive_one_row(nn.Sequential(Own(3)))[0]) is Own
    assert type(survive_one_row(nn.BatchNorm1d(3))) is BatchNorm1d
