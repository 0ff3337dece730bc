"""UnionNet-B against its definition: one softmax over all R·C rows, a mean over items."""

import numpy as np
import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.methods.unionnet import UnionNet
from tests.methods.definitions import check_update, labels_of, softmax
from tests.methods.toys import C, R, build, crowd, features, float64


def written_out(method: UnionNet, batch: CrowdBatch) -> Tensor:
    Z = method.Z.reshape(R * C, C)
    theta = torch.stack([softmax(Z[:, p]) for p in range(C)], dim=1)
    p = [softmax(z) for z in method.net(batch.x)]
    losses: list[list[Tensor]] = [[] for _ in p]
    for i, r, y in labels_of(batch):
        losses[i].append(-torch.log((theta @ p[i])[r * C + y]))
    return sum(sum(each) / len(each) for each in losses) / len(losses)


def test_an_update_is_the_definition() -> None:
    check_update("union-net", written_out)
    check_update("union-net", written_out, items=1)


def test_the_first_transition_carries_how_much_each_annotator_labels() -> None:
    with float64():
        annotations = crowd(silent=(2,), unused=(3,))
        data = CrowdData(features(), annotations)
        method = build("union-net", data.shape)
        method.start(data)
        shares = np.zeros((annotations.n_items, C))
        np.add.at(shares, (annotations.item, annotations.label), 1)
        shares /= shares.sum(axis=1, keepdims=True)
        Z = np.zeros((R, C, C))
        for r in range(R):
            for q in range(C):
                mine = (annotations.annotator == r) & (annotations.label == q)
                for p in range(C):
                    total = shares[:, p].sum()
                    share = shares[annotations.item[mine], p].sum() / total if total else 0
                    Z[r, q, p] = np.log(share + 1e-5)
        torch.testing.assert_close(method.get_parameter("Z"), torch.tensor(Z))
