"""CrowdLayer (Rodrigues & Pereira, AAAI 2018): one confusion matrix per annotator, learned along.

loss = (1/L) Σ_l -log softmax( p_row(l) T^annotator(l) )[y_l],   T^r starts as the identity.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from crowdwise.batches import CrowdBatch, CrowdShape
from crowdwise.functional.crowd import crowd_nll
from crowdwise.methods.base import MakeNet, Method, make_optimizer, probabilities, step
from crowdwise.methods.options import Options


@dataclass(frozen=True, kw_only=True)
class CrowdLayerOptions(Options):
    """CrowdLayer has nothing to set of its own."""


class CrowdLayer(Method):
    """A classifier p and unconstrained T (R, C, C), trained together on every observed label."""

    options_type = CrowdLayerOptions

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: Options) -> None:
        super().__init__(make_net, shape, options)
        self.net = make_net()
        self.T = nn.Parameter(torch.eye(shape.n_classes).repeat(shape.n_annotators, 1, 1))
        self.optimizers = [make_optimizer(options, self.parameters())]

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        loss = crowd_nll(self.net(batch.x), self.T, batch.row, batch.annotator, batch.label)
        return {"loss": step(self.optimizers[0], loss, self.ranks, len(batch.label))}

    def predict_each(self, x: Tensor) -> Tensor:
        return probabilities(self.net, x)

    def confusions(self) -> Tensor:
        return self.T.detach().softmax(dim=2)
