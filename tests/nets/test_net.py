"""The split at the last linear layer, and the precision of its two sides."""

import copy

import pytest
import torch
from torch import nn

from crowdwise.errors import InputError
from crowdwise.nets import Net, with_head


class Users(nn.Module):
    """A network as a user writes it, its last layer in the middle of the attributes."""

    def __init__(self, softmax: bool = False) -> None:
        super().__init__()
        self.classify = nn.ModuleDict({"out": nn.Linear(8, 3)})
        self.stem = nn.Linear(4, 8)
        self.drop = nn.Dropout(0.5)
        self.softmax = softmax

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logits = self.classify["out"](self.drop(torch.relu(self.stem(x))))
        return logits.softmax(1) if self.softmax else logits


def test_forward_is_the_head_of_the_features() -> None:
    net = Net(nn.Flatten(), nn.Linear(6, 2))
    x = torch.randn(5, 2, 3)
    assert net.features(x).shape == (5, 6)
    torch.testing.assert_close(net(x), net.head(net.features(x)))


def test_features_are_flattened() -> None:
    net = Net(nn.Conv2d(1, 4, 3), nn.Linear(16, 2))
    assert net.features(torch.randn(5, 1, 4, 4)).shape == (5, 16)


def test_autocast_reaches_the_backbone_alone() -> None:
    net = Net(nn.Linear(4, 4), nn.Linear(4, 2))
    seen: list[torch.dtype] = []
    net.backbone.register_forward_hook(lambda *args: seen.append(args[2].dtype))
    net.autocast = lambda: torch.autocast("cpu", torch.bfloat16)
    assert net.features(torch.randn(3, 4)).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert net(torch.randn(3, 4)).dtype == torch.float32
    assert seen == [torch.bfloat16, torch.bfloat16]
    assert set(net.state_dict()) == {"backbone.weight", "backbone.bias", "head.weight", "head.bias"}


def test_double_stays_double() -> None:
    net = Net(nn.Linear(4, 4), nn.Linear(4, 2)).double()
    x = torch.randn(3, 4, dtype=torch.float64)
    assert net.features(x).dtype == net(x).dtype == torch.float64


def test_a_users_module_splits_at_the_named_layer_and_stays_whole() -> None:
    torch.manual_seed(0)
    module = Users()
    before = copy.deepcopy(module.state_dict())
    x = torch.randn(7, 4)
    net = with_head(module, "classify.out", sample=x)
    assert net.head.out_features == 3
    torch.testing.assert_close(net.eval()(x), module.eval()(x))
    assert module.state_dict().keys() == before.keys()
    net.head.weight.data.zero_()
    torch.testing.assert_close(module.state_dict(), before)


def test_the_check_leaves_the_training_flag_and_the_random_state() -> None:
    module = Users().train()
    state = torch.get_rng_state()
    assert with_head(module, "classify.out", sample=torch.zeros(2, 4)).training
    assert module.training
    assert torch.equal(torch.get_rng_state(), state)


def test_no_name_takes_the_last_linear_layer() -> None:
    net = with_head(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
    assert (net.head.in_features, net.head.out_features) == (8, 3)


def test_a_lone_linear_layer_is_all_head() -> None:
    layer = nn.Linear(4, 3)
    x = torch.randn(2, 4)
    torch.testing.assert_close(with_head(layer, sample=x)(x), layer(x))


@pytest.mark.parametrize(
    ("module", "name", "says"),
    [
        (Users(), "clasify", r"no nn.Linear named 'clasify'.*'classify.out', 'stem'"),
        (Users(), "drop", r"no nn.Linear named 'drop'"),
        (nn.Conv2d(1, 1, 1), None, "has no nn.Linear"),
        (Users(), None, "'stem' is not the last layer"),
        (Users(softmax=True), "classify.out", "output is not that layer's output"),
    ],
)
def test_a_wrong_split_is_named(module: nn.Module, name: str | None, says: str) -> None:
    with pytest.raises(InputError, match=says):
        with_head(module, name, sample=torch.randn(5, 4))
