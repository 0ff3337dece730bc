"""Many trainings at once do what `methods/ccc.py` does: one whole epoch, side by side."""

import numpy as np
import pytest
import torch

from benchmarks.many import Many, Options, labels_of
from crowdwise import methods, nets
from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.engine import fit, seeded

N, D, R, C, H = 60, 5, 6, 3, 8


@pytest.mark.parametrize("active", ["all", "head"])
def test_an_epoch_ends_as_the_methods_does(active: str) -> None:
    rng = np.random.default_rng(0)
    said = rng.integers(0, C, (N, R))
    said[rng.random((N, R)) < 0.5] = -1
    said[:, 0] = rng.integers(0, C, N)
    data = CrowdData(rng.normal(size=(N, D)).astype(np.float32), Annotations.from_dense(said))
    common = {"lr": 0.1, "active": active}
    with seeded(0):
        method = methods.create(
            "ccc",
            lambda: nets.make("mlp", (D,), C, hidden=(H,), dropout=0.0),
            data.shape,
            common
            | {"epochs": 1, "warmup_epochs": 0, "n_groups": R, "meta_size": 30, "optimizer": "sgd"}
            | {"correction_rate": 0.3, "momentum": 0.0, "batch_size": N},
        )
    options = Options(
        **common, epochs=1, warmup=0, n_groups=R, meta_size=30, batch=N, hidden=H, dropout=0.0
    )
    rows = torch.arange(N)[None]
    many = Many(data.x(rows[0]), labels_of(data.annotations), rows, options, 0, None)
    starts = [
        [
            peer.net.backbone[2].weight.T,
            peer.net.backbone[2].bias[None],
            peer.net.head.weight.T,
            peer.net.head.bias[None],
        ]
        for peer in method.peers
    ]
    many.theta = [torch.stack(weights).detach().clone() for weights in zip(*starts, strict=True)]

    def descend(gradients: list[torch.Tensor]) -> None:  # plain, where Adam would take signs
        for q, g in zip([*many.theta, many.T], gradients, strict=True):
            q.sub_(0.1 * g)

    many._adam = descend  # type: ignore[method-assign]
    many.train()
    fit(method, data)

    for k, peer in enumerate(method.peers):
        torch.testing.assert_close(many.T[k], peer.T.detach(), rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(many.theta[2][k], peer.net.head.weight.T.detach())
        torch.testing.assert_close(many.theta[0][k], peer.net.backbone[2].weight.T.detach())
    each = method.eval().predict_each(data.x(rows[0]))
    torch.testing.assert_close(
        many.predict(data.x(rows[0]))[0], each.detach(), rtol=1e-4, atol=1e-6
    )
    assert not torch.equal(many.T[0], torch.eye(C).expand(R, C, C))
