"""CCC written down literally, without a shortcut: what the fast form is measured against.

Labels are a dense one-hot table over items, annotators and classes; every confusion is corrected
and applied to every item of a batch, whoever labelled it; the virtual step is taken on a fresh copy
of the network with `create_graph=True`, the correction V comes from automatic double
differentiation, and the actual step runs a second forward pass. Distillation makes one pass per
class.

`tests/benchmarks/test_naive.py` holds its V and its updated weights to those of `methods/ccc.py`.
"""

from copy import deepcopy

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn.functional import cross_entropy, one_hot

from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.methods.base import MakeNet
from crowdwise.methods.ccc import CCC, CCCOptions, DistilledSet
from crowdwise.methods.passes import Alone
from crowdwise.methods.team import EPS, Peer, Team


class NaiveCCC(CCC):
    """The same options, draws, groups and optimisers as CCC; every iteration by the definition."""

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: CCCOptions) -> None:
        super().__init__(make_net, shape, options)
        self.teams = [
            Team([peer], [k], Alone(peer.net), options) for k, peer in enumerate(self._peers())
        ]
        self.optimizers = [one for team in self.teams for one in team.optimizers]

    def start(self, data: CrowdData) -> None:
        super().start(data)
        R, C = self.shape.n_annotators, self.shape.n_classes
        dtype = self._peers()[0].T.dtype
        self.labels = torch.zeros(len(data), R, C, dtype=dtype)  # (N, R, C) one-hot
        item = torch.arange(len(data)).repeat_interleave(data.offsets.diff())
        self.labels[item, data.annotator] = one_hot(data.label, C).to(dtype)

    def _update(self, team: Team, batch: CrowdBatch) -> Tensor:
        (k,) = team.members
        peer, (optimizer,) = self._peers()[k], team.optimizers
        y = self.labels[batch.item]  # (B, R, C)
        V = self.correction(k, batch.x, y) if self.distilled else torch.zeros_like(peer.V)
        loss = crowd_loss(peer.net(batch.x), corrected(peer, peer.T, V), y)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return loss.detach()

    def correction(self, k: int, x: Tensor, y: Tensor) -> Tensor:
        """V (G, C, C) by double differentiation."""
        peer, options = self._peers()[k], self.options
        rate = self.optimizers[k].param_groups[0]["lr"]
        V = torch.zeros_like(peer.V, requires_grad=True)
        copy = deepcopy(peer.net)
        theta = dict(copy.named_parameters())
        loss = crowd_loss(copy(x), corrected(peer, peer.T.detach(), V), y)
        gradients = torch.autograd.grad(loss, list(theta.values()), create_graph=True)
        theta_hat = {}
        for (name, weight), gradient in zip(theta.items(), gradients, strict=True):
            is_head = name.startswith("head.")
            moved = weight - rate * gradient if is_head or options.virtual == "all" else weight
            theta_hat[name] = moved if is_head or options.active == "all" else moved.detach()
        x_meta, y_meta = self._meta_batch([k])
        meta_loss = cross_entropy(functional_call(copy, theta_hat, (x_meta[0],)), y_meta[0])
        (g,) = torch.autograd.grad(meta_loss, V)
        eta_m = options.correction_rate * peer.T.detach().max() / g.abs().max()
        return -eta_m * g

    @torch.no_grad()
    def _distil(self, data: CrowdData) -> list[DistilledSet]:
        """For each class a pass over the items that somebody labelled so."""
        self.eval()
        chosen = [self._distil_by(peer, data) for peer in self._peers()]
        self.train()
        return chosen

    def _distil_by(self, peer: Peer, data: CrowdData) -> DistilledSet:
        C = self.shape.n_classes
        items, labels = [], []
        for c in range(C):
            candidates = self.labels[:, :, c].any(dim=1).nonzero()[:, 0]
            losses = [
                cross_entropy(peer.net(data.x(part)), torch.full_like(part, c), reduction="none")
                for part in candidates.split(1024)
            ]
            easiest = torch.cat(losses).argsort()[: max(1, self.options.meta_size // C)]
            items.append(candidates[easiest])
            labels.append(torch.full_like(items[-1], c))
        return DistilledSet(torch.cat(items), torch.cat(labels))


def corrected(peer: Peer, T: Tensor, V: Tensor) -> Tensor:
    """T + V[group] for all R annotators, (R, C, C)."""
    return T + V[peer.group]


def crowd_loss(z: Tensor, T: Tensor, y: Tensor) -> Tensor:
    """-(1/L) Σ_ir y_ir · log( softmax(p_i T^r) + eps ) over all items and annotators."""
    p = z.softmax(dim=1)
    a = torch.einsum("bc,rcd->brd", p, T).softmax(dim=2)  # (B, R, C)
    return -(y * (a + EPS).log()).sum() / y.sum()
