"""The fast layer against `nn.Linear`, whose numbers it must give."""

import pytest
import torch
from torch import nn

from crowdwise.functional import product
from crowdwise.functional.product import LARGE
from crowdwise.nets import make
from crowdwise.nets.linear import Linear

pays = pytest.mark.skipif(not product._PAYS, reason="oneDNN gains nothing on this processor")
B, D, H = 128, 512, 128  # as large as oneDNN asks
assert B * D * H >= LARGE


@pytest.fixture
def layers():
    torch.manual_seed(0)
    plain, fast = nn.Linear(D, H), Linear(D, H)
    fast.load_state_dict(plain.state_dict())
    return plain, fast


def close(a, b):
    assert a.shape == b.shape
    assert (a - b).abs().max() <= 1e-5 * b.abs().max()


@pays
def test_large_products_go_to_onednn(monkeypatch):
    calls = []
    real = product._onednn
    monkeypatch.setattr(product, "_onednn", lambda *args: calls.append(1) or real(*args))
    Linear(D, H)(torch.randn(B, D)).sum().backward()
    assert len(calls) == 2  # forward, and the weights' gradient; x wants none
    calls.clear()
    Linear(D, H)(torch.randn(8, D)).sum().backward()
    assert not calls


def test_values_and_gradients_are_those_of_a_plain_layer(layers):
    x = torch.randn(B, D, requires_grad=True)
    upstream = torch.randn(B, H)
    plain, fast = (
        [out, *torch.autograd.grad(out, [x, layer.weight, layer.bias], upstream)]
        for layer in layers
        for out in [layer(x)]
    )
    for a, b in zip(fast, plain, strict=True):
        close(a, b)


def test_second_derivatives_too(layers):
    x, upstream = torch.randn(B, D), torch.randn(B, H)
    found = []
    for layer in layers:
        u = upstream.clone().requires_grad_()
        gradients = torch.autograd.grad(
            torch.tanh(layer(x)), list(layer.parameters()), u, create_graph=True
        )
        found.append(torch.autograd.grad([g.sin().sum() for g in gradients], [u, layer.weight]))
    for a, b in zip(*found, strict=True):
        close(a, b)


def test_half_precision_is_left_to_autocast(layers):
    x = torch.randn(B, D)
    with torch.autocast("cpu", torch.bfloat16):
        plain, fast = (layer(x) for layer in layers)
    assert fast.dtype == torch.bfloat16
    assert torch.equal(plain, fast)


def test_nets_use_it():
    assert any(isinstance(layer, Linear) for layer in make("fc128", (512,), 3).modules())
    assert any(isinstance(layer, Linear) for layer in make("cnn", (1, 28, 28), 3).modules())
