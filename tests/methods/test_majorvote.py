"""Majority vote: its loss, and its three ways with a tie."""

import numpy as np
import pytest
import torch
from torch import Tensor

from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.errors import InputError
from crowdwise.methods.majorvote import MajorVote
from tests.methods.definitions import check_update, labels_of, softmax
from tests.methods.toys import C, build

# item 0: 1 beats 0; item 1: 0 and 2 tie; item 2: three tie; item 3: one label
TIED = Annotations.from_triples(
    [0, 0, 0, 1, 1, 2, 2, 2, 3],
    [0, 1, 2, 0, 1, 0, 1, 2, 1],
    [1, 0, 1, 2, 0, 2, 1, 0, 1],
    classes=range(3),
)


def target(ties: str, seed: int = 0) -> Tensor:
    data = CrowdData(np.zeros((4, 2), np.float32), TIED)
    method = build("major-vote", data.shape, seed=seed, ties=ties)
    method.start(data)
    assert isinstance(method, MajorVote)
    return method.target


def votes(batch: CrowdBatch) -> Tensor:
    counts = torch.zeros(len(batch), C)
    for i, _, y in labels_of(batch):
        counts[i, y] += 1
    return counts


def soft(method: MajorVote, batch: CrowdBatch) -> Tensor:
    share = votes(batch) / votes(batch).sum(dim=1, keepdim=True)
    p = [softmax(z) for z in method.net(batch.x)]
    losses = [-share[i, c] * torch.log(p[i][c]) for i in range(len(p)) for c in range(C)]
    return sum(losses) / len(p)


def lowest(method: MajorVote, batch: CrowdBatch) -> Tensor:
    z = method.net(batch.x)
    first = [counts.index(max(counts)) for counts in votes(batch).tolist()]
    return sum(-torch.log(softmax(z[i])[y]) for i, y in enumerate(first)) / len(first)


def test_an_update_is_the_definition() -> None:
    check_update("major-vote", soft, ties="soft")
    check_update("major-vote", lowest, ties="lowest")
    check_update("major-vote", lowest, ties="lowest", items=1)


def test_soft_targets_are_shares() -> None:
    assert target("soft")[1].tolist() == [0.5, 0, 0.5]


def test_lowest_takes_the_first_class() -> None:
    assert target("lowest").argmax(dim=1).tolist() == [1, 0, 0, 1]


def test_random_ties_are_fair_and_repeat_with_the_seed() -> None:
    drawn = torch.stack([target("random", seed) for seed in range(600)])
    assert torch.equal(drawn[7], target("random", 7))
    assert (drawn.sum(dim=2) == 1).all()
    shares = drawn.float().mean(dim=0)
    expected = torch.tensor([[0, 1, 0], [1 / 2, 0, 1 / 2], [1 / 3, 1 / 3, 1 / 3], [0, 1, 0]])
    # five standard deviations of a share of 600 draws are 0.10
    torch.testing.assert_close(shares, expected, rtol=0, atol=0.1)


def test_an_unknown_rule_is_refused() -> None:
    data = CrowdData(np.zeros((4, 5), np.float32), TIED)
    with pytest.raises(InputError, match="ties is 'first'; it must be one of random, lowest, soft"):
        build("major-vote", data.shape, ties="first")


def test_it_learns_what_the_majority_says() -> None:
    x = torch.eye(3).repeat(20, 1)
    truth = x.argmax(dim=1)
    wrong = (truth + 1) % 3
    crowd = Annotations.from_triples(
        np.tile(np.arange(60), 3),
        np.repeat([0, 1, 2], 60),
        torch.cat([truth, truth, wrong]).numpy(),
    )
    data = CrowdData(torch.nn.functional.pad(x, (0, 2)), crowd)
    method = build("major-vote", data.shape, lr=0.1)
    method.start(data)
    for _ in range(60):
        method.update(next(data.epoch(torch.arange(60), 60)))
    assert torch.equal(method.predict(data.x(torch.arange(60))).argmax(dim=1), truth)
