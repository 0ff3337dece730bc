"""CoNAL (Chu, Ma & Wang, AAAI 2021): confusion that all share, confusion of one's own, and a gate.

w_ir = sigmoid(v_i · u_r)                       how much the shared confusion rules this label
s_ir = w_ir p_i T_shared + (1 - w_ir) p_i T^r   annotator logits
loss = (1/L) Σ_l -log softmax(s_l)[y_l] - scale · Σ_r ||T^r - T_shared||_F
"""

from dataclasses import dataclass
from math import prod, sqrt

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from crowdwise.batches import CrowdBatch, CrowdShape
from crowdwise.functional.crowd import scatter
from crowdwise.methods.base import MakeNet, Method, make_optimizer, probabilities, step
from crowdwise.methods.options import Options

HIDDEN = 128  # width between the two linear maps of v
MEMORY = 0.9  # of the running mean of each annotator's gate


@dataclass(frozen=True, kw_only=True)
class CoNALOptions(Options):
    """The gate between shared and individual confusion."""

    embedding: int = 20  # k, dimension of u and v
    scale: float = 1e-5  # weight of the reward for individual confusions that differ
    normalize_items: bool = True  # divide v by its length, as u always is


class CoNAL(Method):
    """A classifier p, T_shared (C, C), T (R, C, C), and the gate's embeddings."""

    options: CoNALOptions
    options_type = CoNALOptions
    gate: Tensor

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: CoNALOptions) -> None:
        super().__init__(make_net, shape, options)
        _, R, C = shape
        k = options.embedding
        self.net = make_net()
        self.T_shared = nn.Parameter(2 * torch.eye(C))
        self.T = nn.Parameter(2 * torch.eye(C).repeat(R, 1, 1))
        self.v = nn.Sequential(
            nn.Flatten(), nn.Linear(prod(shape.input), HIDDEN), nn.Linear(HIDDEN, k)
        )
        self.u = nn.Parameter(torch.empty(R, k).uniform_(-1 / sqrt(R), 1 / sqrt(R)))
        self.register_buffer("gate", torch.full((R,), 0.5))  # running mean of w, for confusions()
        self.optimizers = [make_optimizer(options, self.parameters())]

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        p = torch.softmax(self.net(batch.x), dim=1)[batch.row]  # (L, C)
        w = self._gates(batch)
        own = torch.bmm(p[:, None], self.T.index_select(0, batch.annotator))[:, 0]
        s = w[:, None] * (p @ self.T_shared) + (1 - w[:, None]) * own
        apart = torch.linalg.vector_norm(self.T - self.T_shared, dim=(1, 2)).sum()
        loss = cross_entropy(s, batch.label) - self.options.scale * apart
        self._remember(w.detach(), batch.annotator)
        return {"loss": step(self.optimizers[0], loss, self.ranks, len(batch.label))}

    def predict_each(self, x: Tensor) -> Tensor:
        return probabilities(self.net, x)

    def confusions(self) -> Tensor:
        """Both confusions mixed by the annotator's mean gate, as the labels are."""
        w = self.gate[:, None, None]
        return (w * self.T_shared + (1 - w) * self.T).detach().softmax(dim=2)

    def _gates(self, batch: CrowdBatch) -> Tensor:
        """w (L,) of the observed labels."""
        v = self.v(batch.x)
        v = normalize(v) if self.options.normalize_items else v
        u = normalize(self.u)
        return torch.sigmoid((v[batch.row] * u[batch.annotator]).sum(dim=1))

    def _remember(self, w: Tensor, annotator: Tensor) -> None:
        R = len(self.gate)
        counts = self.ranks.sum(torch.bincount(annotator, minlength=R))
        mean = self.ranks.sum(scatter(w, annotator, R)) / counts.clamp(min=1)
        seen = MEMORY * self.gate + (1 - MEMORY) * mean
        self.gate.copy_(torch.where(counts > 0, seen, self.gate))
