"""CrowdLayer against its definition."""

import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch
from crowdwise.methods.crowdlayer import CrowdLayer
from tests.methods.definitions import check_update, labels_of, softmax
from tests.methods.toys import C, R, build, data_for


def written_out(method: CrowdLayer, batch: CrowdBatch) -> Tensor:
    p = [softmax(z) for z in method.net(batch.x)]
    nll = [-torch.log(softmax(p[i] @ method.T[r])[y]) for i, r, y in labels_of(batch)]
    return sum(nll) / len(nll)


def test_an_update_is_the_definition() -> None:
    check_update("crowd-layer", written_out)
    check_update("crowd-layer", written_out, items=1)


def test_every_confusion_starts_as_the_identity() -> None:
    method = build("crowd-layer", data_for("crowd-layer").shape)
    assert torch.equal(method.get_parameter("T"), torch.eye(C).expand(R, C, C))
