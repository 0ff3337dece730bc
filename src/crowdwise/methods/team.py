"""CCC's peers, and teams of them that are computed side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from crowdwise.batches import CrowdBatch, CrowdShape, Ranks
from crowdwise.functional.crowd import (
    CrowdGradients,
    crowd_gradients,
    crowd_gradients_along,
    scatter,
)
from crowdwise.methods.base import make_optimizer, sum_gradients
from crowdwise.methods.options import Options
from crowdwise.methods.passes import Alone, Nets, Pass
from crowdwise.methods.rows import RowAdam
from crowdwise.methods.together import Together, tie
from crowdwise.nets.net import Net

MANY = 10_000  # annotators from whom on a step over all of T costs more than the batch
EPS = 1e-5  # added to the probability of an observed label before the logarithm


class Peer(nn.Module):
    """One of the coupled models: a classifier, its confusions T (R, C, C), its groups g (R,)."""

    group: Tensor
    V: Tensor

    def __init__(self, net: Net, shape: CrowdShape, n_groups: int) -> None:
        super().__init__()
        R, C = shape.n_annotators, shape.n_classes
        self.net = net
        self.T = nn.Parameter(torch.eye(C).repeat(R, 1, 1))
        self.register_buffer("group", torch.zeros(R, dtype=torch.int64))
        # mean correction of this epoch, (G, C, C): the labels are explained by T + V, not by T
        self.register_buffer("V", torch.zeros(min(n_groups, R), C, C))


class Team:
    """K peers side by side: their nets, and T (K, R, C, C), V (K, G, C, C), group (K, R).

    The peers keep their weights; after `tie` these are slices of the team's tensors.
    """

    V: Tensor
    group: Tensor

    def __init__(
        self, peers: Sequence[Peer], members: list[int], nets: Nets, options: Options
    ) -> None:
        self.peers = peers
        self.members = members  # their numbers among all peers
        self.nets = nets
        self.T = torch.empty(0)
        weights = [weight for peer in peers for weight in peer.net.parameters()]
        confusions = [peer.T for peer in peers]
        self.sparse = (
            len(confusions[0]) >= MANY and options.optimizer == "adam" and not options.weight_decay
        )
        if self.sparse:
            sparse = RowAdam(confusions, options.lr)
            self.optimizers: list[Optimizer] = [make_optimizer(options, weights), sparse]
        else:
            self.optimizers = [make_optimizer(options, weights + confusions)]

    @property
    def rate(self) -> float:
        """The learning rate, which the virtual step takes as well."""
        rate: float = self.optimizers[0].param_groups[0]["lr"]
        return rate

    def tie(self) -> None:
        """Make the peers' tensors slices of the team's, unless they are: a copy's are not."""
        if self.T.data_ptr() == self.peers[0].T.data_ptr():
            return
        self.nets.tie()
        self.T = tie([peer.T for peer in self.peers])
        self.V = tie([peer.V for peer in self.peers])
        self.group = tie([peer.group for peer in self.peers])
        self.look()

    def look(self) -> None:
        """Note the largest entry of every annotator's T, after it was changed from outside."""
        if self.sparse and len(self.T):
            self.largest_of = self.T.flatten(2).amax(dim=2)  # (K, R)

    def largest(self) -> Tensor:
        """max(T) of every peer, (K,)."""
        return self.largest_of.amax(dim=1) if self.sparse else self.T.flatten(1).amax(dim=1)

    def labels(self, batch: CrowdBatch, n_labels: int | None = None) -> Labels:
        """The batch's labels, once for every peer.

        Args:
            n_labels: how many labels all processes have together, where several share a batch.
        """
        K, R = self.group.shape
        peer = torch.arange(K, device=self.group.device)[:, None]
        group = self.group.index_select(1, batch.annotator) + peer * self.V.shape[1]
        return Labels(
            row=(batch.row + peer * len(batch)).flatten(),
            annotator=(batch.annotator + peer * R).flatten(),
            group=group.flatten(),
            label=batch.label.repeat(K),
            sizes=(K, len(batch), R, self.V.shape[1]),
            n_labels=n_labels or len(batch.label),
        )

    def step(self, seen: Pass, labels: Labels, crowd: CrowdGradients, ranks: Ranks) -> Tensor:
        """One step of every optimiser down the gradients of the peers' losses; their sum."""
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        seen.backward(labels.per_peer(crowd.dz))
        if not self.sparse:
            for peer, gradient in zip(self.peers, labels.by_annotator(crowd.dt), strict=True):
                peer.T.grad = gradient
        loss = sum_gradients(self.optimizers[0], crowd.loss, ranks)
        if self.sparse:
            labels, dt = labels.of_everybody(crowd.dt, ranks)
            for peer, gradient in zip(self.peers, labels.sparsely(dt), strict=True):
                peer.T.grad = gradient
        for optimizer in self.optimizers:
            optimizer.step()
        if self.sparse:
            moved = labels.of_annotator(self.T).flatten(1).amax(dim=1)
            self.largest_of.view(-1)[labels.annotator] = moved
        return loss


@dataclass(frozen=True)
class Labels:
    """L observed labels of B items, repeated for K peers whose items lie end to end."""

    row: Tensor  # (K·L,) out of K·B items
    annotator: Tensor  # (K·L,) out of K·R
    group: Tensor  # (K·L,) out of K·G
    label: Tensor  # (K·L,) class given
    sizes: tuple[int, int, int, int]  # K, B, R, G
    n_labels: int  # what the loss is the mean over: L, or the labels of all processes

    def gradients(self, z: Tensor, t: Tensor) -> CrowdGradients:
        """Of the sum of the peers' losses, for z (K, B, C) and t (K·L, C, C)."""
        return crowd_gradients(z.flatten(0, 1), t, self.row, self.label, EPS, self.n_labels)

    def gradients_along(self, crowd: CrowdGradients, u: Tensor, t: Tensor) -> Tensor:
        """How `crowd.dt` moves when the logits move along u (K, B, C): (K·L, C, C)."""
        return crowd_gradients_along(crowd, u.flatten(0, 1), t, self.row, self.label, EPS)

    def per_peer(self, dz: Tensor) -> Tensor:
        """(K·B, C) as (K, B, C)."""
        return dz.view(*self.sizes[:2], -1)

    def of_annotator(self, T: Tensor) -> Tensor:
        """T (K, R, C, C) of every label's annotator, (K·L, C, C)."""
        return T.flatten(0, 1).index_select(0, self.annotator)

    def of_group(self, V: Tensor) -> Tensor:
        """V (K, G, C, C) of every label's group, (K·L, C, C)."""
        return V.flatten(0, 1).index_select(0, self.group)

    def by_annotator(self, dt: Tensor) -> Tensor:
        """Sums over each annotator's labels, (K, R, C, C)."""
        K, _, R, _ = self.sizes
        return scatter(dt, self.annotator, K * R).view(K, R, *dt.shape[1:])

    def sparsely(self, dt: Tensor) -> list[Tensor]:
        """What `by_annotator` gives, as K sparse tensors (R, C, C)."""
        K, _, R, _ = self.sizes
        each = zip(self.annotator.view(K, -1) % R, dt.view(K, -1, *dt.shape[1:]), strict=True)
        return [
            torch.sparse_coo_tensor(where[None], values, (R, *dt.shape[1:]), check_invariants=False)
            for where, values in each
        ]

    def of_everybody(self, dt: Tensor, ranks: Ranks) -> tuple[Labels, Tensor]:
        """The annotators and `dt` of all processes' labels, to step by."""
        if ranks.size == 1:
            return self, dt
        K = self.sizes[0]

        def gathered(values: Tensor) -> Tensor:  # (K·L, …) of each, into (K·ΣL, …)
            by_label = values.view(K, -1, *values.shape[1:]).transpose(0, 1)
            return ranks.rows(by_label).transpose(0, 1).flatten(0, 1)

        return replace(self, annotator=gathered(self.annotator)), gathered(dt)

    def by_group(self, dt: Tensor) -> Tensor:
        """Sums over each group's labels, (K, G, C, C)."""
        K, _, _, G = self.sizes
        return scatter(dt, self.group, K * G).view(K, G, *dt.shape[1:])


def make_teams(peers: Sequence[Peer], options: Options, shape: CrowdShape) -> list[Team]:
    """One team of all peers where their nets can be computed together, else one for each."""
    nets = [peer.net for peer in peers]
    if options.precision == "fp32" and Together.takes(nets, shape.input):
        return [Team(peers, list(range(len(peers))), Together(nets), options)]
    return [Team([peer], [k], Alone(peer.net), options) for k, peer in enumerate(peers)]
