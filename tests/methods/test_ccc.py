"""CCC's distilled sets, groups and warm-up; its mathematics is held in tests/gradient/."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import log_softmax

from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.errors import InputError
from crowdwise.methods import create
from crowdwise.methods.ccc import CCC, CCCOptions
from crowdwise.methods.grouping import group_annotators
from crowdwise.nets import Net

N, D, C, R = 60, 4, 3, 8


def data(seed: int = 0, copies: int = 1) -> CrowdData:
    """Every item labelled by three annotators; with copies, each of them thrice the same class."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(N), 3)
    annotator = np.concatenate([rng.choice(R, 3, replace=False) for _ in range(N)])
    label = rng.integers(0, C, 3 * N) if copies == 1 else np.repeat(rng.integers(0, C, N), 3)
    crowd = Annotations.from_triples(item, annotator, label, classes=range(C))
    return CrowdData(rng.normal(size=(N, D)).astype(np.float32), crowd)


def started(options: CCCOptions, crowd: CrowdData) -> CCC:
    torch.manual_seed(0)
    method = CCC(lambda: Net(nn.Identity(), nn.Linear(D, C)), crowd.shape, options)
    method.start(crowd)
    method.start_epoch(crowd, options.warmup_epochs)
    return method


SMALL = CCCOptions(epochs=4, warmup_epochs=0, n_groups=3, meta_size=15, meta_batch_size=7)


@pytest.mark.parametrize("coupled", [True, False])
def test_a_model_learns_from_the_set_that_the_other_distilled(coupled: bool) -> None:
    crowd = data()
    method = started(replace(SMALL, coupled=coupled), crowd)
    given = set(zip(crowd.annotations.item.tolist(), crowd.annotations.label.tolist(), strict=True))
    x = crowd.x(torch.arange(N))
    for learner in (0, 1):
        teacher = method._peers()[1 - learner if coupled else learner]
        losses = -log_softmax(teacher.net(x), dim=1)
        expected = set()
        for c in range(C):  # the definition: the M / C easiest items that somebody labelled c
            items = sorted((i for i, y in given if y == c), key=lambda i, c=c: losses[i, c])  # type: ignore[misc]
            expected |= {(i, c) for i in items[:5]}
        chosen = method.distilled[learner]
        pairs = list(zip(chosen.item.tolist(), chosen.label.tolist(), strict=True))
        assert set(pairs) == expected
        assert len(pairs) == len(expected)
        assert chosen.label.bincount(minlength=C).tolist() == [5, 5, 5]


def test_the_sets_of_two_models_differ() -> None:
    one, two = started(SMALL, data()).distilled
    assert set(one.item.tolist()) != set(two.item.tolist())


def test_a_class_with_fewer_candidates_gives_all_it_has() -> None:
    crowd = CrowdData(
        torch.randn(4, D), Annotations.from_triples(range(4), [0, 1, 0, 1], [0, 0, 0, 1], range(C))
    )
    method = started(replace(SMALL, n_groups=2, meta_size=6), crowd)
    assert method.distilled[0].label.bincount(minlength=C).tolist() == [2, 1, 0]


def test_reference_preset_counts_a_candidate_once_per_label() -> None:
    crowd = data(copies=3)
    for preset, times in (("paper", 1), ("reference", 3)):
        item = started(replace(SMALL, preset=preset), crowd).candidates.item  # type: ignore[arg-type]
        assert item.bincount().tolist() == [times] * N


def test_more_groups_than_annotators_are_reduced_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="only 8 annotators gave labels"):
        method = started(replace(SMALL, n_groups=30), data())
    assert sorted(method.groups().tolist()) == list(range(R))


def test_the_warm_up_is_crowd_layer_and_leaves_corrections_at_zero() -> None:
    crowd = data()
    options = replace(SMALL, warmup_epochs=2, n_models=1, optimizer="sgd", lr=0.1)
    torch.manual_seed(0)
    ccc = CCC(lambda: Net(nn.Identity(), nn.Linear(D, C)), crowd.shape, options)
    torch.manual_seed(0)
    layer = create(
        "crowd-layer",
        lambda: Net(nn.Identity(), nn.Linear(D, C)),
        crowd.shape,
        {"optimizer": "sgd", "lr": 0.1},
    )
    ccc.start(crowd)
    ccc.start_epoch(crowd, 0)
    for batch in crowd.epoch(torch.arange(N), 20):
        ccc.update(batch)
        layer.update(batch)
    x = crowd.x(torch.arange(N))
    # CCC adds 1e-5 to a probability before its logarithm; CrowdLayer does not
    torch.testing.assert_close(ccc.predict(x), layer.predict(x), rtol=1e-4, atol=1e-5)
    assert float(ccc._peers()[0].V.abs().max()) == 0
    assert ccc.distilled == []


def test_a_copy_of_a_method_learns_by_itself() -> None:
    """Peers' weights are slices of their team's; a copy's are not, until its next update."""
    crowd = data()
    method = started(SMALL, crowd)
    batch = next(crowd.epoch(torch.arange(N), N))
    method.update(batch)
    other = copy.deepcopy(method)
    before = {name: value.clone() for name, value in method.state_dict().items()}
    for learner in (other, method):
        torch.manual_seed(3)
        learner.update(batch)
        learner.update(batch)
        moved = learner.state_dict()
        assert not torch.equal(moved["peers.1.net.head.weight"], before["peers.1.net.head.weight"])
        if learner is other:
            torch.testing.assert_close(method.state_dict(), before)
    torch.testing.assert_close(other.state_dict(), method.state_dict())


def test_a_meta_batch_has_no_item_class_pair_twice() -> None:
    method = started(SMALL, data())
    torch.manual_seed(1)
    ((x,), (y,)) = method._meta_batch([0])
    assert len(x) == len(y) == 7
    rows = {(tuple(row), label) for row, label in zip(x.tolist(), y.tolist(), strict=True)}
    assert len(rows) == 7


def test_groups_are_those_of_equal_matrices_whatever_their_order() -> None:
    T = torch.eye(C).repeat(2, 6, 1, 1)
    T[:, [1, 4]] = torch.full((C, C), 0.3)
    T[1, 2] = torch.full((C, C), 0.3)  # the second model sees it differently
    torch.manual_seed(5)
    for g, alike in zip(
        group_annotators(T, torch.ones(6, dtype=torch.bool), 2), ({1, 4}, {1, 2, 4}), strict=True
    ):
        assert {r for r in range(6) if g[r] == g[1]} == alike
        assert len({int(g[r]) for r in range(6) if r not in alike}) == 1


def test_an_annotator_without_labels_joins_the_nearest_group() -> None:
    T = torch.tensor([[[0.0]], [[9.0]], [[8.9]]])
    (g,) = group_annotators(T[None], torch.tensor([True, True, False]), 1)
    assert g.tolist() == [0, 0, 0]
    (g,) = group_annotators(torch.cat([T, T + 0.1])[None], torch.tensor([True, True, False] * 2), 2)
    assert g[2] == g[1] == g[4]


@pytest.mark.parametrize("wrong", [{"n_groups": 0}, {"meta_size": 0}, {"correction_rate": -1.0}])
def test_options_that_cannot_work_are_named(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        replace(SMALL, **wrong)  # type: ignore[arg-type]
