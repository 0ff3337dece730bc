"""CCC's V, theta and T against the definition written out: double differentiation, no shortcut.

The slow form below is the paper's algorithm read literally in float64: confusions of every label
in a loop, `create_graph=True` through the network, a second forward pass for the actual step.
"""

from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.methods.ccc import CCC, CCCOptions, DistilledSet
from crowdwise.methods.passes import Alone
from crowdwise.methods.team import EPS
from crowdwise.methods.together import Together
from crowdwise.nets.net import Net

B, D, C, R, G = 7, 5, 3, 6, 3
WAYS = [("all", "all"), ("head", "all"), ("head", "head")]  # (active, virtual)


NETS = ["tanh", "tanh with norm", "relu", "relu with norms"]  # by autograd, and in closed form


def double_net(kind: str) -> Net:
    layers: list[nn.Module] = [nn.Linear(D, 6), nn.Tanh() if "tanh" in kind else nn.ReLU()]
    if "norm" in kind:
        layers.insert(1, nn.BatchNorm1d(6))
    if "norms" in kind:
        layers = [nn.BatchNorm1d(D, affine=False), *layers, nn.BatchNorm1d(6)]
    return Net(nn.Sequential(*layers), nn.Linear(6, C)).double()


def small_case(
    active: str, virtual: str, net: str, seed: int = 0, **options: object
) -> tuple[CCC, CrowdBatch]:
    """A one-model CCC past its warm-up, with confusions that are no identities, and a batch."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    labels = 3 * B
    item, annotator = np.arange(labels) % B, rng.integers(0, R, labels)
    item, annotator = np.unique(np.stack([item, annotator]), axis=1)
    item, annotator = np.r_[item, 0], np.r_[annotator, R]  # annotator R labels one item only
    crowd = Annotations.from_triples(
        item, annotator, rng.integers(0, C, len(item)), classes=range(C)
    )
    data = CrowdData(torch.from_numpy(rng.normal(size=(B, D))), crowd)
    chosen = CCCOptions(
        n_models=1, n_groups=G, active=active, virtual=virtual, optimizer="sgd", lr=0.3,
        weight_decay=0.01, warmup_epochs=0, **options,  # type: ignore[arg-type]
    )  # fmt: skip
    method = CCC(lambda: double_net(net), data.shape, chosen).double()
    assert isinstance(method.teams[0].nets, Alone if "tanh" in net else Together)
    peer = method._peers()[0]
    with torch.no_grad():
        peer.T += 0.5 * torch.randn_like(peer.T)
    method.start(data)
    peer.group.copy_(torch.randint(G, (data.shape.n_annotators,)))
    method.distilled = [DistilledSet(torch.arange(B), torch.randint(C, (B,)))]
    (batch,) = data.epoch(torch.randperm(B), B)
    return method, batch


def crowd_loss(z: Tensor, T: Tensor, V: Tensor, group: Tensor, batch: CrowdBatch) -> Tensor:
    p = z.softmax(dim=1)
    total = z.new_zeros(())
    for row, r, y in zip(batch.row, batch.annotator, batch.label, strict=True):
        a = (p[row] @ (T[r] + V[group[r]])).softmax(dim=0)
        total = total - (a[y] + EPS).log()
    return total / len(batch.label)


def call(net: Net, theta: dict[str, Tensor], x: Tensor) -> Tensor:
    """A forward pass in training mode on copies of the running statistics."""
    buffers = {name: buffer.clone() for name, buffer in net.named_buffers()}
    result: Tensor = functional_call(net, {**theta, **buffers}, (x,))
    return result


def meta_loss(method: CCC, batch: CrowdBatch, V: Tensor) -> Tensor:
    """L_meta(theta_hat(V)), where only the active layers let V's gradient through."""
    peer, options = method._peers()[0], method.options
    theta = {name: w.detach().requires_grad_() for name, w in peer.net.named_parameters()}
    z = call(peer.net, theta, batch.x)
    loss = crowd_loss(z, peer.T.detach(), V, peer.group, batch)
    gradients = torch.autograd.grad(loss, list(theta.values()), create_graph=True)
    theta_hat = {}
    for (name, weight), gradient in zip(theta.items(), gradients, strict=True):
        is_head = name.startswith("head.")
        moved = weight - options.lr * gradient if is_head or options.virtual == "all" else weight
        theta_hat[name] = moved if is_head or options.active == "all" else moved.detach()
    assert method.data is not None
    item, label = method.distilled[0]
    return cross_entropy(call(peer.net, theta_hat, method.data.x(item)), label)


def slow_correction(method: CCC, batch: CrowdBatch) -> Tensor:
    peer = method._peers()[0]
    V = torch.zeros(G, C, C, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(meta_loss(method, batch, V), V)
    eta_m = method.options.correction_rate * peer.T.max() / g.abs().max()
    return (-eta_m * g).detach()


def fast_correction(method: CCC, batch: CrowdBatch) -> Tensor:
    (team,) = method.teams
    team.tie()
    seen, labels = team.nets.forward(batch.x), team.labels(batch)
    return method._virtual_and_meta(team, seen, labels, labels.of_annotator(team.T))[0]


@pytest.mark.parametrize(("way", "net"), list(product(WAYS, NETS)))
def test_correction_equals_double_differentiation(way: tuple[str, str], net: str) -> None:
    for seed in range(5):
        method, batch = small_case(*way, net, seed)
        fast, slow = fast_correction(method, batch), slow_correction(method, batch)
        assert slow.abs().max() > 0.1
        torch.testing.assert_close(fast, slow, rtol=1e-8, atol=1e-8 * float(slow.abs().max()))


@pytest.mark.parametrize("net", NETS)
def test_correction_points_down_the_finite_difference_slope(net: str) -> None:
    """With every layer active, V is the steepest descent of the loss as it can be measured."""
    method, batch = small_case("all", "all", net)
    V, step = fast_correction(method, batch), 1e-5
    slope = torch.zeros_like(V)
    for entry in product(range(G), range(C), range(C)):
        nudge = torch.zeros_like(V)
        nudge[entry] = step
        up, down = meta_loss(method, batch, nudge), meta_loss(method, batch, -nudge)
        slope[entry] = ((up - down) / (2 * step)).detach()
    torch.testing.assert_close(V / V.abs().max(), -slope / slope.abs().max(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("way", "net"), list(product(WAYS, NETS)))
def test_whole_iterations_equal_the_slow_version(way: tuple[str, str], net: str) -> None:
    """theta, T and running statistics after two iterations: SGD with momentum and decay."""
    method, batch = small_case(*way, net)
    slow, _ = small_case(*way, net)
    slow.load_state_dict(method.state_dict())
    slow.distilled = method.distilled
    peer, optimizer = slow._peers()[0], slow.optimizers[0]
    for seed in (1, 2):
        torch.manual_seed(seed)  # the order within the meta batch changes no mean, only rounding
        method.update(batch)
        V = slow_correction(slow, batch)
        optimizer.zero_grad()
        loss = crowd_loss(peer.net(batch.x), peer.T, V, peer.group, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    for name, value in slow.state_dict().items():
        if name.endswith(".V"):  # the mean correction of the epoch is kept for people to read
            continue
        torch.testing.assert_close(method.state_dict()[name], value, rtol=1e-9, atol=1e-10)


def test_running_statistics_move_once_per_iteration() -> None:
    method, batch = small_case("all", "all", "tanh with norm")
    norm = method._peers()[0].net.backbone[1]  # type: ignore[index]
    before = norm.running_mean.clone()
    seen = method._peers()[0].net.backbone[0](batch.x).mean(dim=0).detach()  # type: ignore[index]
    method.update(batch)
    torch.testing.assert_close(norm.running_mean, 0.9 * before + 0.1 * seen)
    assert int(norm.num_batches_tracked) == 1


def test_confusions_never_absorb_the_correction() -> None:
    """With a rate of zero nothing is learned, however large V is."""
    method, batch = small_case("head", "all", "tanh")
    (team,) = method.teams
    team.tie()
    before = team.T.clone()
    V = 5 * torch.ones(1, G, C, C, dtype=torch.float64).tril()
    method.optimizers[0].param_groups[0].update(lr=0.0)
    team.tie()
    seen, labels = team.nets.forward(batch.x), team.labels(batch)
    t = labels.of_annotator(team.T) + labels.of_group(V)
    method._actual(team, seen, labels, t)
    torch.testing.assert_close(team.T, before, rtol=0, atol=0)
    torch.testing.assert_close(method._peers()[0].T.detach(), before[0], rtol=0, atol=0)


def test_a_correction_that_is_not_finite_is_left_out() -> None:
    from crowdwise.functional.unroll import correction

    largest = torch.tensor([2.0, 4.0])
    slope = torch.tensor([[[1.0, -4.0], [0.0, 2.0]]])
    expected = [[[0.25, -1.0], [0.0, 0.5]]]
    twice = correction(torch.stack([slope, slope]), largest, 0.5)
    assert twice.tolist() == [expected, [[[0.5, -2.0], [0.0, 1.0]]]]
    for broken in (torch.zeros(1, 2, 2), slope / 0, slope * float("nan")):
        both = correction(torch.stack([slope, broken]), largest, 0.5)
        assert both.tolist() == [expected, [[[0.0, 0.0], [0.0, 0.0]]]]  # the other model's stays
