"""Layers of several nets side by side against PyTorch's own, one net at a time, in float64."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn
from torch.func import jvp, vjp

from crowdwise.functional.layers import Dropout, Layer, Linear, Norm, ReLU, kept

K, B, D, OUT = 3, 6, 4, 5
# PyTorch's own forward-mode rules are scripted on first use
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script. is deprecated")


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def holds_for_every_net(layer: Layer, twin: list[nn.Module], h: Tensor) -> None:
    """y, Jᵀ dy and J (h', weights') are those of PyTorch's module, for each net by itself."""
    weights = [dict(module.named_parameters()) for module in twin]
    dy, h_dot = torch.randn_like(layer.y), torch.randn(K, *h.shape[1:])
    moves = [torch.randn(K, *w.shape) for w in weights[0].values()]
    dh, gradients = layer.back(dy, further=True)
    stopped, same = layer.back(dy, further=False)
    u, u_alone = layer.along(h_dot, moves), layer.along(None, moves)
    assert stopped is None or isinstance(layer, Dropout | ReLU)
    assert all(torch.equal(a, b) for a, b in zip(gradients, same, strict=True))
    for k, module in enumerate(twin):
        h_k = h[k % len(h)]

        def call(h: Tensor, *values: Tensor, module: nn.Module = module, k: int = k) -> Tensor:
            named = dict(zip(weights[k], values, strict=True))
            buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
            y: Tensor = torch.func.functional_call(module, {**named, **buffers}, (h,))
            return y

        given = (h_k, *(w.detach() for w in weights[k].values()))
        y, back = vjp(call, *given)
        torch.testing.assert_close(layer.y[k], y)
        assert dh is not None
        for mine, theirs in zip([dh, *gradients], back(dy[k]), strict=True):
            torch.testing.assert_close(mine[k], theirs)
        for mine, start in ((u, h_dot[k]), (u_alone, torch.zeros_like(h_k))):
            _, moved = jvp(call, given, (start, *(move[k] for move in moves)))
            torch.testing.assert_close(torch.zeros_like(moved) if mine is None else mine[k], moved)


def stacked(twin: list[nn.Module]) -> list[Tensor]:
    each = zip(*(module.parameters() for module in twin), strict=True)
    return [torch.stack([w.detach() for w in same]) for same in each]


@pytest.mark.parametrize("n_batches", [1, K])  # 1: the nets share it
def test_linear(n_batches: int) -> None:
    twin: list[nn.Module] = [nn.Linear(D, OUT) for _ in range(K)]
    h = torch.randn(n_batches, B, D)
    holds_for_every_net(Linear(h, *stacked(twin)), twin, h)


def test_linear_in_large_products() -> None:
    """Where one product keeps the machine busy, they are taken one by one."""
    for n_batches in (1, 2):
        h, W, b = torch.randn(n_batches, 160, 256), torch.randn(2, 128, 256), torch.randn(2, 128)
        layer = Linear(h, W, b)
        slow = torch.einsum("kbd,kod->kbo", h.expand(2, -1, -1), W) + b[:, None]
        torch.testing.assert_close(layer.y, slow)
        dh, (dW, _) = layer.back(layer.y, further=True)
        assert dh is not None
        torch.testing.assert_close(dh, torch.einsum("kbo,kod->kbd", slow, W))
        torch.testing.assert_close(
            dW, torch.einsum("kbo,kbd->kod", slow, h.expand(2, -1, -1)), rtol=1e-9, atol=1e-9
        )


def test_relu() -> None:
    h = torch.randn(K, B, D)
    holds_for_every_net(ReLU(h), [nn.ReLU()] * K, h)


@pytest.mark.parametrize("n_batches", [1, K])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("B", [2, 6])
def test_norm(n_batches: int, affine: bool, B: int) -> None:
    twin = [nn.BatchNorm1d(D, affine=affine, eps=0.01) for _ in range(K)]
    for norm in twin:
        if affine:
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)
    h = torch.randn(n_batches, B, D) * 3 + 1
    running = (torch.zeros(K, D), torch.ones(K, D))
    layer = Norm(h, stacked(twin) if affine else [], running, 0.01, momentum=0.25)
    for k, norm in enumerate(twin):
        norm.momentum = 0.25
        norm(h[k % n_batches])
        torch.testing.assert_close(running[0][k], norm.running_mean)
        torch.testing.assert_close(running[1][k], norm.running_var)
    if n_batches == K:
        holds_for_every_net(layer, list(twin), h)


def test_norm_leaves_running_statistics_where_no_momentum_is_given() -> None:
    running = (torch.zeros(K, D), torch.ones(K, D))
    Norm(torch.randn(K, B, D), [], running, 1e-5, momentum=None)
    assert torch.equal(running[0], torch.zeros(K, D))
    assert torch.equal(running[1], torch.ones(K, D))


@pytest.mark.parametrize("affine", [False, True])
def test_one_row_is_normalised_by_running_statistics(affine: bool) -> None:
    twin = [nn.BatchNorm1d(D, affine=affine) for _ in range(K)]
    for norm in twin:
        norm(torch.randn(9, D) * 2 + 1)
        norm.eval()
    means, variances = zip(*((norm.running_mean, norm.running_var) for norm in twin), strict=True)
    running = [torch.stack(means), torch.stack(variances)]  # type: ignore[arg-type]
    before = [statistic.clone() for statistic in running]
    h = torch.randn(K, 1, D)
    layer = Norm(h, stacked(list(twin)) if affine else [], running, 1e-5, momentum=0.1)
    holds_for_every_net(layer, list(twin), h)
    assert all(torch.equal(a, b) for a, b in zip(before, running, strict=True))


def test_dropout_keeps_one_mask_all_the_way() -> None:
    h = torch.randn(1, B, D)
    layer = Dropout(h, 0.4, K)
    assert layer.y.shape == (K, B, D)
    dropped = layer.y == 0
    assert 0 < dropped.double().mean() < 1
    torch.testing.assert_close(layer.y[~dropped], (h / 0.6).expand(K, -1, -1)[~dropped])
    dh, _ = layer.back(torch.ones(K, B, D), further=True)
    u = layer.along(torch.ones(K, B, D), [])
    assert dh is not None
    assert u is not None
    assert torch.equal(dh == 0, dropped)
    assert torch.equal(u, dh)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_mask_drops_its_share_independently(share: float) -> None:
    mask = kept(share, (2, 50_001), torch.ones(()))
    dropped = (mask == 0).double()
    deviation = (share * (1 - share) / mask.numel()) ** 0.5
    assert abs(float(dropped.mean()) - share) < 5 * deviation
    both = (dropped[0] * dropped[1]).mean()  # two nets' masks know nothing of each other
    assert abs(float(both) - share**2) < 5 * (share**2 * (1 - share**2) / 50_001) ** 0.5
    neighbours = (dropped[:, 1:] * dropped[:, :-1]).mean()
    assert abs(float(neighbours) - share**2) < 7 * (share**2 * (1 - share**2) / 1e5) ** 0.5
    torch.testing.assert_close(float(mask.max()), 1 / (1 - share))
