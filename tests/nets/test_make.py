"""Every network by name: shapes, parameters, precision, gradients, a batch of one."""

import copy

import pytest
import torch

from crowdwise import nets
from crowdwise.errors import InputError
from crowdwise.nets.net import Net

VECTORS, GREY, COLOUR = (12,), (1, 28, 28), (3, 32, 32)
CASES = [
    ("auto", VECTORS),
    ("auto", (1, 8, 8)),
    ("linear", VECTORS),
    ("mlp", VECTORS),
    ("fc128", (4, 4, 6)),
    ("music", VECTORS),
    ("cnn", GREY),
    ("cnn", COLOUR),
    ("cnn", (1, 1, 1)),
    ("resnet18", (1, 3, 3)),
    ("resnet34", (3, 4, 4)),
]


def make(name: str, shape: tuple[int, ...], **options: object) -> Net:
    torch.manual_seed(0)
    return nets.make(name, shape, 10, **options)


def parameters(net: Net) -> int:
    return sum(p.numel() for p in net.parameters())


@pytest.mark.parametrize(("name", "shape"), CASES)
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_logits_are_the_head_of_two_dimensional_features(
    name: str, shape: tuple[int, ...], batch: int
) -> None:
    net = make(name, shape)
    assert net(torch.randn(batch, *shape)).shape == (batch, 10)  # in training
    net.eval()
    x = torch.randn(batch, *shape)
    h = net.features(x)
    assert h.shape == (batch, net.head.in_features)
    torch.testing.assert_close(net(x), h @ net.head.weight.T + net.head.bias)


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_a_batch_of_one_has_finite_logits_and_leaves_no_nan_behind(
    name: str, shape: tuple[int, ...]
) -> None:
    net = make(name, shape)
    assert net(torch.randn(1, *shape)).isfinite().all()
    assert all(value.isfinite().all() for value in net.state_dict().values())


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_the_gradient_reaches_every_parameter(name: str, shape: tuple[int, ...]) -> None:
    net = make(name, shape)
    x, y = torch.randn(16, *shape), torch.arange(16) % 10
    torch.nn.functional.cross_entropy(net(x), y).backward()
    for parameter_name, parameter in net.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.abs().max() > 0, parameter_name


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_double_agrees_with_single(name: str, shape: tuple[int, ...]) -> None:
    net = make(name, shape).eval()
    double = copy.deepcopy(net).double()
    x = torch.randn(4, *shape, dtype=torch.float64)
    assert double(x).dtype == torch.float64
    torch.testing.assert_close(double(x).float(), net(x.float()), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_half_precision_in_the_backbone_leaves_float32_logits(
    name: str, shape: tuple[int, ...]
) -> None:
    net = make(name, shape)
    net.autocast = lambda: torch.autocast("cpu", torch.bfloat16)
    for batch in (1, 4):
        logits = net(torch.randn(batch, *shape))
        assert logits.dtype == torch.float32
        logits.sum().backward()


@pytest.mark.parametrize(("name", "shape"), [("cnn", COLOUR), ("resnet18", (3, 8, 8))])
def test_channels_last_changes_no_logit(name: str, shape: tuple[int, ...]) -> None:
    net = make(name, shape).eval()
    x = torch.randn(4, *shape)
    expected = net(x)
    last = net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    torch.testing.assert_close(
        last(x.to(memory_format=torch.channels_last)), expected, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    ("name", "shape", "count"),
    [
        ("linear", (256,), 256 * 10 + 10),
        ("fc128", (8192,), 8192 * 128 + 128 + 128 * 10 + 10),
        ("music", (124,), 124 * 128 + 128 + 128 * 10 + 10),  # the norms have no weights
        ("mlp", (256,), 256 * 128 + 128 + 128 * 10 + 10),
    ],
)
def test_parameters_of_the_nets_for_vectors(name: str, shape: tuple[int, ...], count: int) -> None:
    assert parameters(make(name, shape)) == count


def resnet_by_hand(channels: int, depths: tuple[int, ...]) -> int:
    """First convolution, then per block two 3×3 and, where the width doubles, one 1×1."""
    count = channels * 64 * 9 + 2 * 64
    for depth, width in zip(depths, (64, 128, 256, 512), strict=True):
        before = max(64, width // 2)
        if width > 64:  # the first block of a stage
            count += before * width * 9 + width * width * 9 + 4 * width
            count += before * width + 2 * width
            depth -= 1
        count += depth * (2 * width * width * 9 + 4 * width)
    return count + 512 * 10 + 10


def test_parameters_of_the_resnets() -> None:
    assert parameters(make("resnet18", COLOUR)) == resnet_by_hand(3, (2, 2, 2, 2)) == 11_173_962
    assert parameters(make("resnet34", COLOUR)) == resnet_by_hand(3, (3, 4, 6, 3)) == 21_282_122
    assert parameters(make("resnet18", GREY)) == resnet_by_hand(1, (2, 2, 2, 2))


def test_the_first_convolution_of_a_resnet_is_unpadded_and_unpooled() -> None:
    net = make("resnet18", COLOUR)
    sides: list[int] = []
    for layer in net.backbone.children():
        layer.register_forward_hook(lambda *args: sides.append(args[2].shape[-1]))
    net(torch.randn(1, *COLOUR))
    assert sides[0] == 30
    assert sides[3:11] == [30, 30, 15, 15, 8, 8, 4, 4]


def test_auto_takes_the_shape_for_what_it_is() -> None:
    assert parameters(make("auto", VECTORS)) == parameters(make("mlp", VECTORS))
    assert parameters(make("auto", GREY)) == parameters(make("cnn", GREY))


def test_raw_scales_do_not_matter_to_a_normed_mlp() -> None:
    net = make("mlp", VECTORS, dropout=0.0)
    x = torch.randn(64, *VECTORS, dtype=torch.float64)
    net = net.double()
    torch.testing.assert_close(net(x * 1e3 + 5), net(x), rtol=1e-3, atol=1e-3)


def test_options_reach_the_network() -> None:
    net = make("mlp", VECTORS, hidden=[7, 5], dropout=0.1, norm=False)
    assert parameters(net) == 12 * 7 + 7 + 7 * 5 + 5 + 5 * 10 + 10
    assert make("cnn", GREY, width=4).state_dict()["backbone.0.weight"].shape == (4, 1, 3, 3)


def test_no_hidden_layer_is_legal() -> None:
    assert parameters(make("mlp", VECTORS, hidden=())) == 12 * 10 + 10


@pytest.mark.parametrize(
    ("name", "shape", "options", "says"),
    [
        ("vgg", VECTORS, {}, "no net is named 'vgg'; choose among auto, linear"),
        ("cnn", VECTORS, {}, r"takes images .* not inputs of shape \(12,\)"),
        ("mlp", (), {}, "hold nothing"),
        ("mlp", (0,), {}, "hold nothing"),
        ("mlp", VECTORS, {"depth": 3}, "no option 'depth'; its options: hidden, dropout, norm"),
        ("resnet18", GREY, {"dropout": 0.5}, "it has no options"),
        ("mlp", VECTORS, {"dropout": 1.0}, "share from 0 to below 1, not 1.0"),
    ],
)
def test_what_cannot_be_made_is_said(
    name: str, shape: tuple[int, ...], options: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        make(name, shape, **options)
