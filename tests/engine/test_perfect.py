"""A perfect annotator beside any method: what is learned, how often, and going on after a kill."""

import numpy as np
import pytest
import torch

from crowdwise import methods, nets
from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.engine import fit, seeded
from crowdwise.engine.checkpoint import Checkpoints
from crowdwise.engine.perfect import Perfect

N = 50
X = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32)
DATA = CrowdData(X, Annotations.from_triples(np.arange(N), ["ann", "bob"] * 25, np.arange(N) % 3))
CERTAIN = torch.full((N,), -1)
CERTAIN[:11] = torch.arange(11) % 3


def build(name: str = "crowd-layer", epochs: int = 3, **options: object) -> Perfect:
    given = {"epochs": epochs, "batch_size": 8, "lr": 0.05, "n_models": 2, **options}
    inner = methods.create(name, lambda: nets.make("linear", (4,), 3), DATA.shape, given)
    return Perfect(inner, CERTAIN)


def test_every_certain_label_is_learned_once_an_epoch() -> None:
    with seeded(0):
        method = build()
        learned: list[torch.Tensor] = []
        method._learn = learned.append  # type: ignore[method-assign]
        fit(method, DATA)
    each = torch.cat(learned)
    assert torch.bincount(each).tolist() == [3] * 11  # in three epochs
    assert len(learned) == 6  # eleven labels make two batches of eight, not seven of two


@pytest.mark.parametrize("name", [n for n in methods.names() if n != "true-labels"])
def test_its_loss_is_the_classifiers_own_and_moves_nobodys_confusion(name: str) -> None:
    with seeded(0):
        method = build(name, n_groups=2, meta_size=9) if name == "ccc" else build(name)
        method.start(DATA)
        method.start_epoch(DATA, 0)
        item = torch.arange(11)
        before = method.confusions()
        right = []
        for _ in range(60):
            with torch.no_grad():
                proba = method.predict(DATA.x(item))
            right.append(float(proba[item, CERTAIN[:11]].log().mean()))
            method._learn(item)
    assert right[-1] > right[0] + 0.1
    if before is not None and name != "union-net":
        after = method.confusions()
        assert after is not None
        assert torch.equal(before, after)


@pytest.mark.parametrize("cut", [3, 7, 10])
def test_a_training_cut_off_goes_on_to_the_same_bytes(tmp_path, cut: int) -> None:
    class Cut(Exception):
        pass

    with seeded(0):
        whole = build()
        fit(whole, DATA)
    with seeded(0):
        method = build()
        update, calls = method.update, []

        def stop(batch):
            if len(calls) == cut:
                raise Cut
            calls.append(batch)
            return update(batch)

        method.update = stop  # type: ignore[method-assign]
        with pytest.raises(Cut):
            fit(method, DATA, checkpoints=Checkpoints(tmp_path, minutes=0))
    with seeded(0):
        again = build()
        fit(again, DATA, checkpoints=Checkpoints(tmp_path, minutes=0))
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
