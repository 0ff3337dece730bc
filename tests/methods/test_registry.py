"""Methods by name, the optimisers they ask for, and pairs of them."""

import pytest
import torch
from torch.optim import SGD, Adam, AdamW

from crowdwise.errors import InputError
from crowdwise.methods import create, find, names, summaries
from crowdwise.methods.ensemble import Ensemble
from crowdwise.methods.registry import canonical
from tests.methods.toys import build, data_for, make_net, train

PAPER = ["MajorVote", "CrowdLayer", "DoctorNet", "Max-MIG", "CoNAL", "UnionNet", "CCC"]


@pytest.mark.parametrize("paper", [*PAPER, "TrueLabels"])
def test_the_papers_names_are_understood(paper: str) -> None:
    assert find(paper).__name__ == paper.replace("-", "")


def test_every_spelling_has_one_canonical_name() -> None:
    assert {canonical(name) for name in ("ccc", "CCC", "C-C-C")} == {"ccc"}
    assert canonical("UnionNet") == "union-net"


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="no method 'dawid'; choose from major-vote, crowd-layer"):
        find("dawid")


def test_every_method_has_a_line() -> None:
    assert list(summaries()) == names()
    assert all(line and "\n" not in line for line in summaries().values())


@pytest.mark.parametrize(("name", "kind"), [("sgd", SGD), ("adam", Adam), ("adamw", AdamW)])
def test_the_optimiser_is_the_one_asked_for(name: str, kind: type) -> None:
    shape = data_for("crowd-layer").shape
    asked = {"optimizer": name, "lr": 0.5, "weight_decay": 0.25, "momentum": 0.75}
    (optimizer,) = create("crowd-layer", make_net(), shape, asked).optimizers
    assert type(optimizer) is kind
    assert optimizer.defaults["lr"] == 0.5
    assert optimizer.defaults["weight_decay"] == 0.25
    assert optimizer.defaults.get("momentum", 0.75) == 0.75


def test_a_pair_is_two_singles_on_the_same_batches() -> None:
    """Trained side by side or one after the other, each of a pair is what it is alone."""
    data = data_for("crowd-layer")
    pair = build("crowd-layer", data.shape, n_models=2)
    assert isinstance(pair, Ensemble)
    singles = []
    for member in pair.members:
        alone = build("crowd-layer", data.shape, seed=9)
        alone.load_state_dict(member.state_dict())
        train(alone, data)
        singles.append(alone)
    train(pair, data)
    x = data.x(torch.arange(5))
    each = torch.cat([single.predict_each(x) for single in singles])
    torch.testing.assert_close(pair.predict_each(x), each)
    confusions = [single.confusions() for single in singles]
    torch.testing.assert_close(pair.confusions(), sum(confusions) / 2)
