"""Max-MIG (Cao, Xu, Kong & Wang, ICLR 2019): classifier and crowd agree by maximal information.

p_i = softmax(f(x_i))                                         the classifier
q_i = softmax_c( Σ_{r in A_i} W^r[c, y_i^r] + log π_c )       the crowd
loss = information_loss(p, q, π, u),   u ~ U(0, 1e-4), once per step
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.errors import InputError
from crowdwise.functional.crowd import scatter
from crowdwise.functional.information import information_loss
from crowdwise.methods.base import MakeNet, Method, make_optimizer, probabilities, step
from crowdwise.methods.options import Options
from crowdwise.methods.votes import expected_votes

JITTER = 1e-4  # upper end of u
EPS = 1e-4  # added to the first confusions before the logarithm


@dataclass(frozen=True, kw_only=True)
class MaxMIGOptions(Options):
    """Max-MIG needs to know how frequent the classes are."""

    prior: tuple[float, ...] | None = None  # π, one share per class; None: all equally frequent


class MaxMIG(Method):
    """A classifier (left) and an aggregator with weights W (R, C, C) (right), trained together."""

    options_type = MaxMIGOptions
    prior: Tensor
    given: Tensor

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: MaxMIGOptions) -> None:
        super().__init__(make_net, shape, options)
        _, R, C = shape
        self.net = make_net()
        self.W = nn.Parameter(torch.zeros(R, C, C))  # W[r, c, y]
        self.register_buffer("prior", _prior(options.prior, C), persistent=False)
        self.register_buffer("given", torch.full((R, C), 1 / C))  # how often r says y, at start
        self.optimizers = [make_optimizer(options, self.parameters())]

    @torch.no_grad()
    def start(self, data: CrowdData) -> None:
        """W^r = log(T_mle + eps), T_mle^r[p, q] = Σ_{i in r, y=q} Q_i(p) / Σ_{i in r} Q_i(p)."""
        votes = expected_votes(data)  # (R, p, q)
        counts = votes.sum(dim=1) + EPS  # a silent annotator stays even
        self.given.copy_(counts / counts.sum(dim=1, keepdim=True))
        tiny = torch.finfo(votes.dtype).tiny
        self.W.copy_((votes / votes.sum(dim=2, keepdim=True).clamp(min=tiny) + EPS).log())

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        p = torch.softmax(self.net(batch.x), dim=1)
        evidence = self.W[batch.annotator, :, batch.label]  # (L, C)
        q = torch.softmax(scatter(evidence, batch.row, len(batch)) + self.prior.log(), dim=1)
        p, q = self.ranks.rows(p), self.ranks.rows(q)  # items of all processes meet each other
        u = JITTER * torch.rand((), device=p.device)
        loss = information_loss(p, q, self.prior, u)
        return {"loss": step(self.optimizers[0], loss, self.ranks)}

    def predict_each(self, x: Tensor) -> Tensor:
        return probabilities(self.net, x)

    def confusions(self) -> Tensor:
        """W holds beliefs about the class given a label; Bayes turns them around.

        P(c | y) = softmax_c(W[c, y] + log π_c) and T[c, y] ∝ P(c | y) · share of r's labels that
        say y. (A constant added to W[:, y] changes no q, so W alone does not fix T.)
        """
        of_label = (self.W.detach() + self.prior.log()[:, None]).softmax(dim=1)  # (R, c, y)
        joint = of_label * self.given[:, None, :]
        return joint / joint.sum(dim=2, keepdim=True)


def _prior(given: tuple[float, ...] | None, C: int) -> Tensor:
    if given is None:
        return torch.full((C,), 1 / C)
    prior = torch.tensor(given)
    if len(given) != C or prior.min() <= 0 or abs(float(prior.sum()) - 1) > 1e-3:
        raise InputError(
            f"option prior is {given}; it must hold {C} shares greater than 0 that sum to one, "
            "one for each class"
        )
    return prior / prior.sum()
