"""Teams of peers: a sparse step over T against the dense one, and the largest entry kept along."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.methods import team
from crowdwise.methods.ccc import CCC, CCCOptions
from crowdwise.methods.rows import RowAdam
from crowdwise.nets import make

N, D, C, R = 24, 4, 3, 6
OPTIONS = CCCOptions(
    warmup_epochs=1, n_groups=2, meta_size=9, meta_batch_size=6, optimizer="adam", lr=1e-2
)


def everybody_labels() -> CrowdData:
    """Each annotator has a label in every batch of eight items."""
    rng = np.random.default_rng(0)
    item, annotator = np.divmod(np.arange(N * R), R)
    crowd = Annotations.from_triples(item, annotator, rng.integers(0, C, N * R), range(C))
    return CrowdData(torch.from_numpy(rng.normal(size=(N, D))), crowd)


def trained(data: CrowdData, options: CCCOptions = OPTIONS, net: str = "music") -> CCC:
    torch.manual_seed(0)
    method = CCC(lambda: make(net, (D,), C, dropout=0.0, hidden=8), data.shape, options).double()
    method.train()
    method.start(data)
    for epoch in range(3):
        method.start_epoch(data, epoch)
        for batch in data.epoch(torch.randperm(N), 8):
            method.update(batch)
    return method


def test_a_sparse_step_is_the_dense_one_where_everybody_labelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = everybody_labels()
    dense = trained(data)
    monkeypatch.setattr(team, "MANY", R)
    sparse = trained(data)
    assert any(isinstance(optimizer, RowAdam) for optimizer in sparse.optimizers)
    assert len(dense.optimizers) == 1
    torch.testing.assert_close(sparse.state_dict(), dense.state_dict(), rtol=1e-8, atol=1e-10)


def test_only_annotators_of_the_batch_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "MANY", R)
    data = everybody_labels()
    few = data.annotations.annotator < 4
    crowd = data.annotations
    codes = {name: getattr(crowd, name)[few] for name in ("item", "annotator", "label")}
    method = trained(CrowdData(data.x(torch.arange(N)), replace(crowd, **codes)))
    moved = (method.teams[0].T - torch.eye(C)).abs().amax(dim=(2, 3)) > 0
    assert moved.tolist() == [[True] * 4 + [False] * 2] * 2


def test_the_largest_entry_is_known_without_looking_at_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(team, "MANY", R)
    (one,) = trained(everybody_labels()).teams
    torch.testing.assert_close(one.largest(), one.T.flatten(1).amax(dim=1), rtol=0, atol=0)
    one.peers[0].T.data.mul_(3)
    one.look()
    torch.testing.assert_close(one.largest(), one.T.flatten(1).amax(dim=1), rtol=0, atol=0)


@pytest.mark.parametrize("wrong", [{"optimizer": "sgd"}, {"weight_decay": 0.1}])
def test_other_optimisers_step_densely(
    wrong: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "MANY", R)
    options = replace(OPTIONS, **wrong)  # type: ignore[arg-type]
    assert len(trained(everybody_labels(), options).optimizers) == 1
