"""The race between CCC and its literal form is fair: both compute the same V and weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from benchmarks.naive import NaiveCCC
from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.methods.ccc import CCC, CCCOptions
from crowdwise.nets import Net, make

N, D, C, R = 40, 6, 3, 7
WAYS = [("all", "all"), ("head", "all"), ("all", "head"), ("head", "head")]  # (active, virtual)
OPTIONS = CCCOptions(
    warmup_epochs=1, n_groups=3, meta_size=12, meta_batch_size=8, optimizer="sgd", lr=0.3,
    weight_decay=0.01,
)  # fmt: skip


def fully_connected() -> Net:
    return make("music", (D,), C, dropout=0.0, hidden=8).double()


def convolutional() -> Net:
    layers = [nn.Unflatten(1, (1, 2, 3)), nn.Conv2d(1, 4, 2), nn.BatchNorm2d(4), nn.ReLU()]
    return Net(nn.Sequential(*layers, nn.Flatten()), nn.Linear(8, C)).double()


def crowd_data() -> CrowdData:
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(N), 3)
    annotator = np.concatenate([rng.choice(R, 3, replace=False) for _ in range(N)])
    crowd = Annotations.from_triples(item, annotator, rng.integers(0, C, 3 * N), classes=range(C))
    return CrowdData(torch.from_numpy(rng.normal(size=(N, D))), crowd)


def trained(kind: type[CCC], net: str, options: CCCOptions, data: CrowdData) -> dict[str, Tensor]:
    """State after an epoch of warm-up and two of CCC."""
    torch.manual_seed(1)
    make_net = {"fully connected": fully_connected, "convolutional": convolutional}[net]
    method = kind(make_net, data.shape, options).double()
    method.train()
    method.start(data)
    for epoch in range(3):
        method.start_epoch(data, epoch)
        for batch in data.epoch(torch.randperm(N), 16):
            method.update(batch)
    return method.state_dict()


@pytest.mark.parametrize("net", ["fully connected", "convolutional"])
@pytest.mark.parametrize(("active", "virtual"), WAYS)
def test_naive_and_fast_end_in_the_same_weights(net: str, active: str, virtual: str) -> None:
    """theta, T, running statistics and groups of both peers after three epochs."""
    data = crowd_data()
    options = replace(OPTIONS, active=active, virtual=virtual)  # type: ignore[arg-type]
    fast, naive = (trained(kind, net, options, data) for kind in (CCC, NaiveCCC))
    assert fast.keys() == naive.keys()
    for name, value in naive.items():
        if not name.endswith(".V"):  # kept for people to read; the race leaves it out
            torch.testing.assert_close(fast[name], value, rtol=1e-8, atol=1e-9, msg=name)
    start = torch.eye(C).double().repeat(R, 1, 1)
    assert float((fast["peers.0.T"] - start).abs().max()) > 0.01


@pytest.mark.parametrize(("active", "virtual"), WAYS)
def test_corrections_are_equal(active: str, virtual: str) -> None:
    data = crowd_data()
    options = replace(OPTIONS, active=active, virtual=virtual, n_models=1, warmup_epochs=0)  # type: ignore[arg-type]
    made = []
    for kind in (CCC, NaiveCCC):
        torch.manual_seed(2)
        method = kind(fully_connected, data.shape, options).double()
        method.train()
        method.start(data)
        method.start_epoch(data, 0)
        batch = next(data.epoch(torch.arange(N), N))
        (team,) = method.teams
        if isinstance(method, NaiveCCC):
            made.append(method.correction(0, batch.x, method.labels[batch.item]))
        else:
            team.tie()
            seen, labels = team.nets.forward(batch.x), team.labels(batch)
            t = labels.of_annotator(team.T)
            made.append(method._virtual_and_meta(team, seen, labels, t)[0])
    fast, naive = made
    assert float(naive.abs().max()) > 0.1
    torch.testing.assert_close(fast, naive, rtol=1e-9, atol=1e-10)
