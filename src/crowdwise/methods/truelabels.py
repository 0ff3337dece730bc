"""True labels: plain cross entropy on one annotator who is never wrong. The upper bound.

loss = -(1/L) Σ_l log p_row(l)[y_l]
"""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cross_entropy

from crowdwise.batches import CrowdBatch, CrowdShape
from crowdwise.errors import InputError
from crowdwise.methods.base import MakeNet, Method, make_optimizer, probabilities, step
from crowdwise.methods.options import Options


@dataclass(frozen=True, kw_only=True)
class TrueLabelsOptions(Options):
    """True labels leave nothing to set."""


class TrueLabels(Method):
    """A classifier trained on the labels of a crowd of one."""

    options_type = TrueLabelsOptions

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: TrueLabelsOptions) -> None:
        super().__init__(make_net, shape, options)
        if shape.n_annotators != 1:
            raise InputError(
                f"the method true-labels takes exactly one annotator, who knows the truth; this "
                f"crowd has {shape.n_annotators}; choose a method for crowds, such as ccc"
            )
        self.net = make_net()
        self.optimizers = [make_optimizer(options, self.parameters())]

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        loss = cross_entropy(self.net(batch.x)[batch.row], batch.label)
        return {"loss": step(self.optimizers[0], loss, self.ranks, len(batch.label))}

    def predict_each(self, x: Tensor) -> Tensor:
        return probabilities(self.net, x)
