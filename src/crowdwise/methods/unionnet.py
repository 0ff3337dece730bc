"""UnionNet-B (Wei, Xie, Feng, Han & An, TNNLS 2022): all annotators as one source of R·C labels.

Θ[(r, q), p] = exp Z[(r, q), p] / Σ_{r', q'} exp Z[(r', q'), p]
loss = mean over items of (1/|A_i|) Σ_{r in A_i} -log (Θ p_i)[(r, y_i^r)]
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.methods.base import MakeNet, Method, make_optimizer, probabilities, step
from crowdwise.methods.options import Options
from crowdwise.methods.votes import expected_votes, vote_shares

EPS = 1e-5  # added to the first confusions before the logarithm


@dataclass(frozen=True, kw_only=True)
class UnionNetOptions(Options):
    """UnionNet-B has nothing to set of its own."""


class UnionNet(Method):
    """A classifier p and one transition Z from classes to (annotator, label) pairs."""

    options_type = UnionNetOptions

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: UnionNetOptions) -> None:
        super().__init__(make_net, shape, options)
        _, R, C = shape
        self.net = make_net()
        self.Z = nn.Parameter(torch.zeros(R, C, C))  # Z[r, q, p]: label q, true class p
        self.optimizers = [make_optimizer(options, self.parameters())]

    @torch.no_grad()
    def start(self, data: CrowdData) -> None:
        """Z[(r, q), p] = log(N_r(p, q) / N(p) + eps), N(p) the votes for p of all items."""
        votes = expected_votes(data)  # (R, p, q)
        total = vote_shares(data).sum(dim=0)
        share = votes / total.clamp(min=torch.finfo(total.dtype).tiny)[:, None]
        self.Z.copy_((share + EPS).log().mT)

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        log_p = torch.log_softmax(self.net(batch.x), dim=1)
        total = self.Z.flatten(0, 1).logsumexp(dim=0)  # (C,), over all R·C rows
        log_theta = self.Z[batch.annotator, batch.label] - total  # (L, C)
        nll = -torch.logsumexp(log_theta + log_p[batch.row], dim=1)
        counts = torch.bincount(batch.row, minlength=len(batch))  # |A_i|
        items = (counts > 0).sum()
        loss = (nll / counts[batch.row]).sum() / items
        return {"loss": step(self.optimizers[0], loss, self.ranks, items)}

    def predict_each(self, x: Tensor) -> Tensor:
        return probabilities(self.net, x)

    def confusions(self) -> Tensor:
        """Θ within each annotator: P(label q | true class p, the annotator gave a label)."""
        return self.Z.detach().softmax(dim=1).mT
