"""DoctorNet against its definition: the observed heads, the mean over heads, learned weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.methods import doctornet
from crowdwise.methods.doctornet import DoctorNet
from tests.methods.definitions import check_update, labels_of, softmax
from tests.methods.toys import C, R, build, crowd, data_for, features, train


def heads(method: DoctorNet, h: Tensor) -> list[Tensor]:
    """The softmax of every head for one item's features."""
    return [softmax(W @ h + b) for W, b in zip(method.W, method.b, strict=True)]


def written_out(method: DoctorNet, batch: CrowdBatch) -> Tensor:
    h = method.net.features(batch.x)
    nll = [-torch.log(heads(method, h[i])[r][y]) for i, r, y in labels_of(batch)]
    return sum(nll) / len(nll)


def with_weights(method: DoctorNet, batch: CrowdBatch) -> Tensor:
    """The heads' loss, plus that of the weighted mean of those who did not label an item."""
    w = torch.exp(method.trust)
    labels: list[list[tuple[int, int]]] = [[] for _ in range(len(batch))]
    for i, r, y in labels_of(batch):
        labels[i].append((r, y))
    losses = []
    for i, given in enumerate(labels):
        p = [q.detach() for q in heads(method, method.net.features(batch.x)[i])]
        # check_update's crowd has annotator 2 silent
        others = [r for r in range(R) if r != 2 and r not in [who for who, _ in given]]
        mean = sum(w[r] * p[r] for r in others) / sum(w[r] for r in others)
        losses.append(sum(-torch.log(mean[y]) for _, y in given) / len(given))
    return written_out(method, batch) + sum(losses) / len(batch)


@pytest.mark.parametrize("items", [1, 2, 11])  # fewer labels than annotators, and more
def test_an_update_is_the_definition(items: int) -> None:
    check_update("doctor-net", written_out, items=items)


@pytest.mark.parametrize("items", [1, 11])
def test_learned_weights_leave_the_heads_alone(items: int) -> None:
    check_update("doctor-net", with_weights, items=items, weights="learned")


@pytest.mark.parametrize("weights", ["uniform", "learned"])
@pytest.mark.parametrize("chunk", [1, 2**22])
def test_the_prediction_is_the_mean_over_heads_with_labels(
    weights: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctornet, "CHUNK", chunk)
    data = data_for("doctor-net", silent=(0, 5))
    method = build("doctor-net", data.shape, weights=weights)
    train(method, data)
    assert isinstance(method, DoctorNet)
    x = data.x(torch.arange(4))
    labelled = [1, 2, 3, 4, 6]
    w = softmax(method.trust[labelled]) if weights == "learned" else torch.full((5,), 0.2)
    with torch.no_grad():
        expected = [
            sum(w[k] * heads(method, h)[r] for k, r in enumerate(labelled))
            for h in method.net.features(x)
        ]
        torch.testing.assert_close(method.predict(x), torch.stack(expected))


def test_weights_learn_whom_to_trust() -> None:
    """Six annotators who know the truth and one who always says the next class."""
    annotations = crowd()
    x = torch.as_tensor(features()) * 3
    truth = x[:, :C].argmax(dim=1).numpy().astype(np.int32)[annotations.item]
    liar = annotations.annotator == 3
    told = replace(annotations, label=np.where(liar, (truth + 1) % C, truth))
    data = CrowdData(x, told)
    method = build("doctor-net", data.shape, weights="learned", lr=0.02)
    train(method, data, epochs=40)
    weights = method.get_parameter("trust").softmax(dim=0)
    assert weights[3] < 0.5 / R
    assert weights.argmin() == 3


def test_an_item_that_everyone_labelled_teaches_no_weight() -> None:
    data = CrowdData(features(), crowd(per_item=R))
    method = build("doctor-net", data.shape, weights="learned")
    train(method, data)
    assert torch.equal(method.get_parameter("trust"), torch.zeros(R))


def test_the_nets_own_head_is_gone() -> None:
    keys = set(build("doctor-net", data_for("doctor-net").shape).state_dict())
    assert keys == {"W", "b", "labelled", "net.backbone.0.weight", "net.backbone.0.bias"}
