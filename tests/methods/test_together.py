"""Nets computed side by side: which ones are, and that they are what they are one by one."""

import copy

import pytest
import torch
from torch import nn

from crowdwise.methods.passes import Alone
from crowdwise.methods.together import Together, tie
from crowdwise.nets import Net, make
from crowdwise.nets.norm import BatchNorm1d

D, C, B = 6, 3, 9


class Odd(nn.ReLU):
    """A ReLU by name only."""


def net(*layers: nn.Module, width: int = 8) -> Net:
    return Net(nn.Sequential(*layers), nn.Linear(width, C))


def pair(name: str, **options: object) -> list[Net]:
    return [make(name, (D,), C, **options) for _ in range(2)]


@pytest.mark.parametrize("name", ["linear", "fc128", "music", "mlp"])
def test_our_nets_for_vectors_are_computed_together(name: str) -> None:
    assert Together.takes(pair(name), (D,))


def test_anything_else_is_not() -> None:
    plain = [nn.Flatten(), nn.Linear(D, 8)]
    frozen = net(*plain)
    frozen.head.weight.requires_grad_(False)
    hooked = net(*plain, nn.ReLU())
    hooked.backbone[2].register_forward_hook(lambda *_: None)  # type: ignore[index,operator]
    shared = nn.Linear(8, 8)
    for other in (
        net(nn.Linear(D, 8), nn.Tanh()),
        net(nn.Linear(D, 8), Odd()),
        net(nn.Linear(D, 8, bias=False)),
        net(nn.Linear(D, 8), BatchNorm1d(8, momentum=None)),  # type: ignore[arg-type]
        net(nn.Linear(D, 8), BatchNorm1d(8, track_running_stats=False)),
        net(nn.Linear(D, 8), nn.utils.parametrizations.weight_norm(nn.Linear(8, 8))),
        net(nn.Linear(D, 8), shared, shared),
        frozen,
        hooked,
    ):
        assert not Together.takes([other], (D,)), other
    assert Together.takes([net(*plain)], (D,))
    assert Together.takes([net(*plain)], (2, 3))
    assert not Together.takes([net(nn.Linear(D, 8), nn.Flatten())], (2, D))  # row by row
    assert not Together.takes([net(*plain), net(*plain, nn.ReLU())], (D,))  # two shapes
    one = net(*plain)
    assert not Together.takes([one, one], (D,))


@pytest.mark.parametrize("name", ["linear", "fc128", "music", "mlp"])
@pytest.mark.parametrize("rows", [B, 1])
def test_a_pass_is_that_of_each_net(name: str, rows: int) -> None:
    """Logits, gradients, u = J G, running statistics, and the gradients at other weights."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    try:
        nets = pair(name, **({} if name == "linear" else {"dropout": 0.0}))
        x, z_like = torch.randn(rows, D) * 2 + 1, torch.randn(2, rows, C)
        for one in nets:
            one.train()(torch.randn(20, D))  # running statistics that are not those of the start
        each = [Alone(copy.deepcopy(one)) for one in nets]
        together = Together(nets)
        together.tie()
        mine, theirs = together.forward(x), [alone.forward(x) for alone in each]
        torch.testing.assert_close(mine.z, torch.cat([one.z for one in theirs]))

        for reach in ("head", "all"):
            found = mine.gradients(z_like, reach)
            expected = [
                one.gradients(d[None], reach, again=True)
                for one, d in zip(theirs, z_like, strict=True)
            ]
            for a, *b in zip(found, *expected, strict=True):
                torch.testing.assert_close(a, torch.cat(b))
            u = torch.cat(
                [one.along([g[k : k + 1] for g in found], reach) for k, one in enumerate(theirs)]
            )
            torch.testing.assert_close(mine.along(found, reach), u)

            x_meta, y_meta = torch.randn(2, rows, D), torch.randint(C, (2, rows))
            there = together.moved(found, 0.1)
            G = together.descend(there, x_meta, y_meta, reach)
            slow = [
                alone.descend(
                    [w[k : k + 1] for w in there], x_meta[k : k + 1], y_meta[k : k + 1], reach
                )
                for k, alone in enumerate(each)
            ]
            for a, *b in zip(G, *slow, strict=True):
                torch.testing.assert_close(a, torch.cat(b))

        mine.backward(z_like)
        for one, alone, passed, d in zip(nets, each, theirs, z_like, strict=True):
            passed.backward(d[None])
            torch.testing.assert_close(one.state_dict(), alone.net.state_dict())
            for w, v in zip(one.parameters(), alone.net.parameters(), strict=True):
                torch.testing.assert_close(w.grad, v.grad)
    finally:
        torch.set_default_dtype(torch.float32)


def test_tied_tensors_change_together_whichever_is_written() -> None:
    nets = pair("music")
    together = Together(nets)
    together.tie()
    nets[1].load_state_dict(make("music", (D,), C).state_dict())
    assert torch.equal(together.theta[0][1], nets[1].backbone[2].weight)  # type: ignore[index,union-attr]
    together.theta[0].zero_()
    assert float(nets[0].backbone[2].weight.detach().abs().max()) == 0  # type: ignore[index,union-attr,operator]


def test_tie_keeps_values_and_identity() -> None:
    one, two = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.ones(2))
    both = tie([one, two])
    assert both.tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert both[1].data_ptr() == two.data_ptr()
    assert isinstance(two, nn.Parameter)
