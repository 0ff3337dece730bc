"""DoctorNet (Guan, Gulshan, Dai & Hinton, AAAI 2018): a classifier head for every annotator.

p_ir = softmax(W^r h_i + b^r),   h_i the features before the last linear layer
loss = (1/L) Σ_l -log p_row(l),annotator(l) [y_l]
predict Σ_r w_r p_ir,   w uniform over the annotators with labels, or learned
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.functional.crowd import scatter
from crowdwise.methods.base import MakeNet, Method, make_optimizer, step
from crowdwise.methods.options import Options

CHUNK = 2**22  # numbers held at once when all heads look at many items


@dataclass(frozen=True, kw_only=True)
class DoctorNetOptions(Options):
    """How the heads are averaged."""

    # uniform: all heads alike; learned: averaging weights fitted to each item's labels, from the
    # heads of those who did not label it, which stand still (Guan et al.'s WDN)
    weights: Literal["uniform", "learned"] = "uniform"


class DoctorNet(Method):
    """A backbone with heads W (R, C, D) and b (R, C)."""

    options: DoctorNetOptions
    options_type = DoctorNetOptions
    labelled: Tensor

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: DoctorNetOptions) -> None:
        super().__init__(make_net, shape, options)
        _, R, C = shape
        self.net = make_net()
        D = self.net.head.in_features
        del self.net.head  # the annotators' heads take its place
        bound = 1 / sqrt(D)  # as torch starts a linear layer
        self.W = nn.Parameter(torch.empty(R, C, D).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.empty(R, C).uniform_(-bound, bound))
        self.register_buffer("labelled", torch.ones(R, dtype=torch.bool))
        if options.weights == "learned":
            self.trust = nn.Parameter(torch.zeros(R))
        self.optimizers = [make_optimizer(options, self.parameters())]

    def start(self, data: CrowdData) -> None:
        counts = torch.bincount(data.annotator, minlength=len(self.labelled))
        self.labelled.copy_(counts > 0)

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        h = self.net.features(batch.x)
        loss = cross_entropy(self._observed(h, batch), batch.label)
        loss = self.ranks.weighted(loss, len(batch.label))
        if self.options.weights == "learned":
            loss = loss + self._trust_loss(h.detach(), batch)
        return {"loss": step(self.optimizers[0], loss, self.ranks, of=None)}

    def predict_each(self, x: Tensor) -> Tensor:
        return self._average(self.net.features(x))[None]

    def _observed(self, h: Tensor, batch: CrowdBatch) -> Tensor:
        """Logits of the observed (item, annotator) pairs, (L, C).

        With fewer labels than annotators each label fetches its head, otherwise one product with
        all heads is cheaper; neither holds more copies of a head than there are annotators.
        """
        R, C, D = self.W.shape
        if len(batch.label) < R:
            W = self.W.index_select(0, batch.annotator)
            z = torch.bmm(W, h[batch.row][:, :, None])[:, :, 0]
        else:
            z = (h @ self.W.view(R * C, D).T).view(-1, R, C)[batch.row, batch.annotator]
        return z + self.b.index_select(0, batch.annotator)

    def _average(self, h: Tensor) -> Tensor:
        """Σ_r w_r p_ir, (B, C), over a few items at a time."""
        R, C, D = self.W.shape
        w = self._weights()
        heads, bias = self.W.view(R * C, D), self.b.view(R * C)
        parts = []
        at_once = max(1, CHUNK // (R * C))
        # an exported model takes any number of items, so it cannot count its parts
        for few in (h,) if torch.compiler.is_exporting() else torch.split(h, at_once):
            p = torch.addmm(bias, few, heads.T).view(-1, R, C).softmax(dim=2)
            parts.append(torch.einsum("brc,r->bc", p, w))
        return torch.cat(parts)

    def _weights(self) -> Tensor:
        """w (R,): zero for annotators without labels, the others' sum to one."""
        trust = self.trust if self.options.weights == "learned" else self.b.new_zeros(len(self.b))
        return trust.masked_fill(~self.labelled, -torch.inf).softmax(dim=0)

    def _trust_loss(self, h: Tensor, batch: CrowdBatch) -> Tensor:
        """Cross entropy of an item's vote shares against the weighted mean of the other heads.

        The heads of those who labelled the item have learned its very labels; the mean is over
        all others. Only w learns: features and heads stand still.
        """
        W, b = self.W.detach(), self.b.detach()
        R, C, D = W.shape
        p = torch.addmm(b.view(R * C), h, W.view(R * C, D).T).view(-1, R, C).softmax(dim=2)
        others = torch.ones_like(p[:, :, 0])  # (B, R)
        others[batch.row, batch.annotator] = 0
        w = others * self._weights()
        mass = w.sum(dim=1, keepdim=True)
        tiny = torch.finfo(p.dtype).tiny
        log_p = (torch.einsum("brc,br->bc", p, w) / mass.clamp(min=tiny)).clamp(min=tiny).log()
        votes = scatter(one_hot(batch.label, C).to(h), batch.row, len(batch))  # (B, C)
        shares = votes / votes.sum(dim=1, keepdim=True).clamp(min=1)
        shares = shares * (mass > 0)  # nothing to learn where everyone labelled the item
        items = shares.sum()
        return self.ranks.weighted(-(shares * log_p).sum() / items.clamp(min=1), items)
