"""Max-MIG against its definition: both nets, the jitter, the first confusions."""

import numpy as np
import pytest
import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.errors import InputError
from crowdwise.methods.maxmig import MaxMIG
from tests.methods.definitions import check_update, labels_of, softmax
from tests.methods.toys import C, R, build, crowd, data_for, features, float64


def written_out(method: MaxMIG, batch: CrowdBatch) -> Tensor:
    B, prior = len(batch), method.prior
    p = [softmax(z) for z in method.net(batch.x)]
    logits = [torch.log(prior) for _ in range(B)]
    for i, r, y in labels_of(batch):
        logits[i] = logits[i] + method.W[r][:, y]
    q = [softmax(logit) for logit in logits]
    M = [[(p[i] * q[j] / prior).sum() for j in range(B)] for i in range(B)]
    u = 1e-4 * torch.rand(())  # once a step
    loss = -sum(1 + torch.log(M[i][i] + u) for i in range(B)) / B
    if B > 1:
        loss = loss + sum(M[i][j] for i in range(B) for j in range(B) if i != j) / (B**2 - B)
    return loss


@pytest.mark.parametrize("prior", [None, (0.4, 0.3, 0.2, 0.1)])
@pytest.mark.parametrize("items", [1, 11])
def test_an_update_is_the_definition(prior: tuple[float, ...] | None, items: int) -> None:
    check_update("max-mig", written_out, items=items, prior=prior)


def test_the_first_confusions_are_per_annotator_and_never_log_zero() -> None:
    with float64():
        annotations = crowd(silent=(2,), unused=(3,))
        data = CrowdData(features(), annotations)
        method = build("max-mig", data.shape)
        method.start(data)
        T = np.zeros((R, C, C))
        shares = np.zeros((annotations.n_items, C))
        np.add.at(shares, (annotations.item, annotations.label), 1)
        shares /= shares.sum(axis=1, keepdims=True)
        for r in range(R):
            mine = annotations.annotator == r
            item, label = annotations.item[mine], annotations.label[mine]
            for p in range(C):
                total = shares[item, p].sum()
                for q in range(C):
                    T[r, p, q] = shares[item[label == q], p].sum() / total if total else 0
        torch.testing.assert_close(method.get_parameter("W"), torch.tensor(np.log(T + 1e-4)))


def test_the_prior_shifts_the_crowds_belief() -> None:
    even, odd = build("max-mig", data_for("max-mig").shape), (0.7, 0.1, 0.1, 0.1)
    shifted = build("max-mig", data_for("max-mig").shape, prior=odd)
    assert even.get_buffer("prior").tolist() == pytest.approx([0.25] * C)
    assert shifted.get_buffer("prior").tolist() == pytest.approx(odd)


@pytest.mark.parametrize("prior", [(0.5, 0.5), (0.5, 0.5, 0.5, 0.5), (1.0, 0.0, 0.0, 0.0)])
def test_a_prior_that_is_none_is_refused(prior: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="prior"):
        build("max-mig", data_for("max-mig").shape, prior=prior)
