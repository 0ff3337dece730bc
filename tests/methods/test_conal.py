"""CoNAL against its definition: the gate, both confusions, the reward for differing."""

import pytest
import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch
from crowdwise.methods.conal import CoNAL
from tests.methods.definitions import check_update, labels_of, softmax
from tests.methods.toys import C, D, R, build, data_for, train, whole_batch


def written_out(method: CoNAL, batch: CrowdBatch) -> Tensor:
    _, first, second = method.v
    p = [softmax(z) for z in method.net(batch.x)]
    nll = []
    for i, r, y in labels_of(batch):
        v = second.weight @ (first.weight @ batch.x[i] + first.bias) + second.bias
        if method.options.normalize_items:
            v = v / v.square().sum().sqrt()
        u = method.u[r] / method.u[r].square().sum().sqrt()
        w = 1 / (1 + torch.exp(-(v * u).sum()))
        s = w * (p[i] @ method.T_shared) + (1 - w) * (p[i] @ method.T[r])
        nll.append(-torch.log(softmax(s)[y]))
    apart = sum((T - method.T_shared).square().sum().sqrt() for T in method.T)
    return sum(nll) / len(nll) - method.options.scale * apart


@pytest.mark.parametrize("normalize", [True, False])
def test_an_update_is_the_definition(normalize: bool) -> None:
    check_update("conal", written_out, normalize_items=normalize)
    check_update("conal", written_out, normalize_items=normalize, items=1)
    check_update("conal", written_out, normalize_items=normalize, scale=0.1, embedding=3)


def test_the_start_is_twice_the_identity_and_finite() -> None:
    data = data_for("conal")
    method = build("conal", data.shape)
    assert torch.equal(method.get_parameter("T_shared"), 2 * torch.eye(C))
    assert torch.equal(method.get_parameter("T"), 2 * torch.eye(C).expand(R, C, C))
    assert method.get_parameter("v.1.weight").shape == (128, D)
    method.update(whole_batch(data))  # the norm of T - T_shared has no slope at zero
    assert all(value.isfinite().all() for value in method.parameters())


def test_confusions_mix_by_the_mean_gate() -> None:
    data = data_for("conal", silent=(2,))
    method = build("conal", data.shape)
    train(method, data)
    assert isinstance(method, CoNAL)
    assert method.gate[2] == 0.5  # no label, no gate
    assert (method.gate[torch.arange(R) != 2] != 0.5).all()
    with torch.no_grad():
        method.gate.fill_(1.0)
        shared = method.T_shared.softmax(dim=1).expand(R, C, C)
        torch.testing.assert_close(method.confusions(), shared)
        method.gate.fill_(0.0)
        torch.testing.assert_close(method.confusions(), method.T.softmax(dim=2))
