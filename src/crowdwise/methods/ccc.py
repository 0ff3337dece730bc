"""Coupled Confusion Correction (Zhang et al., AAAI 2024), the heart of crowdwise.

Two classifiers with confusion matrices T^r each. A warm-up trains both as CrowdLayer. Then, every
epoch, each distils a small clean set for the other and groups its annotators by k-means on T; and
in every iteration the group's correction V, zero at first, is found by bi-level optimisation:

    virtual   theta_hat = theta - eta_v ∇_theta L_crowd(theta, T + V)         at V = 0
    meta      V = -eta_m ∇_V L_meta(theta_hat),   eta_m = gamma max(T) / max|∇_V L_meta|
    actual    theta, T  one optimiser step down L_crowd(theta, T + V)         V fixed

The virtual pass starts at V = 0, so its forward pass is the very one the actual step needs, and
∇_V takes one derivative along u (functional/unroll.py) instead of a second-order graph. Peers with
fully connected nets are computed side by side (methods/team.py), others one after the other.
"""

import warnings
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.errors import InputError
from crowdwise.functional.distil import distil, unique_pairs
from crowdwise.functional.unroll import correction
from crowdwise.methods.base import MakeNet, Method, probabilities
from crowdwise.methods.grouping import group_annotators
from crowdwise.methods.options import Options
from crowdwise.methods.passes import Pass, Reach
from crowdwise.methods.team import Labels, Peer, Team, make_teams


@dataclass(frozen=True, kw_only=True)
class CCCOptions(Options):
    """The paper's settings are `preset="paper"` with a data set's own M, G and gamma."""

    n_models: int = 2  # 1 distils for itself
    warmup_epochs: int = 10  # E_w, epochs of CrowdLayer before the first correction
    n_groups: int = 30  # G, annotators of a group share a correction
    correction_rate: float = 0.5  # gamma, size of a correction relative to max(T)
    meta_size: int = 1000  # M, items in a distilled set
    meta_batch_size: int = 128  # of them, in one iteration
    active: Literal["head", "all"] = "head"  # layers whose virtual move carries gradient to V
    virtual: Literal["all", "head"] = "all"  # layers that the virtual step moves
    coupled: bool = True  # False: each model distils for itself
    preset: Literal["paper", "reference"] = (
        "paper"  # reference: as the released code where it differs
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("n_groups", "meta_size", "meta_batch_size"):
            if getattr(self, name) < 1:
                raise InputError(f"option {name} is {getattr(self, name)}; it must be at least 1")
        if self.warmup_epochs < 0 or self.correction_rate < 0:
            raise InputError("options warmup_epochs and correction_rate must be 0 or more")


class DistilledSet(NamedTuple):
    """Items whose class one model believes, for another to learn from."""

    item: Tensor  # (M,)
    label: Tensor  # (M,)


class CCC(Method):
    """Two coupled peers; prediction is the mean of their softmaxes."""

    options_type = CCCOptions
    pairs_itself = True
    options: CCCOptions

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: CCCOptions) -> None:
        super().__init__(make_net, shape, options)
        self.peers = nn.ModuleList(
            Peer(make_net(), shape, options.n_groups) for _ in range(options.n_models)
        )
        self.teams = make_teams(self._peers(), options, shape)
        self.optimizers = [one for team in self.teams for one in team.optimizers]
        self.distilled: list[DistilledSet] = []  # by the model that learns from it
        self.data: CrowdData | None = None
        self.corrections = 0
        self.skipped = torch.zeros((), dtype=torch.int64)

    def start(self, data: CrowdData) -> None:
        given = data.label, data.offsets.diff()
        items = torch.arange(len(data), device=data.device).repeat_interleave(given[1])
        if self.options.preset == "reference":  # an item labelled c by three counts three times
            self.candidates = DistilledSet(items, data.label)
        else:
            self.candidates = DistilledSet(*unique_pairs(items, data.label, self.shape.n_classes))
        self.heard = torch.bincount(data.annotator, minlength=self.shape.n_annotators) > 0
        if self.options.n_groups > (heard := int(self.heard.sum())):
            warnings.warn(
                f"n_groups is {self.options.n_groups}, but only {heard} annotators gave labels; "
                f"{heard} groups are used",
                stacklevel=2,
            )
        self.n_groups = min(self.options.n_groups, heard)
        self.data = data

    def start_epoch(self, data: CrowdData, epoch: int) -> None:
        """Distil and group, once the warm-up is over."""
        if epoch < self.options.warmup_epochs:
            return
        own = self._distil(data)
        learners = range(len(own))
        self.distilled = (
            [own[(k + 1) % len(own)] for k in learners] if self.options.coupled else own
        )
        T = torch.stack([peer.T for peer in self._peers()])
        groups = group_annotators(T, self.heard, self.n_groups)
        for peer, group in zip(self._peers(), groups, strict=True):
            peer.group.copy_(group)
        for team in self.teams:
            team.look()
        self.corrections = 0  # iterations of this epoch so far
        self.skipped = torch.zeros((), dtype=torch.int64, device=data.device)

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        self.corrections += 1
        losses = [self._update(team, batch) for team in self.teams]
        return {"loss": torch.stack(losses).sum() / len(self.peers)}

    def _update(self, team: Team, batch: CrowdBatch) -> Tensor:
        """One iteration of K peers side by side (K = 1 where the net is not fully connected)."""
        team.tie()
        seen = team.nets.forward(batch.x)
        n_labels = self.ranks.count(len(batch.label), batch.label.device)
        labels = team.labels(batch, n_labels)
        t = labels.of_annotator(team.T)  # (K·L, C, C)
        if self.distilled:
            V = self._virtual_and_meta(team, seen, labels, t)  # (K, G, C, C)
            t = t + labels.of_group(V)
            team.V.lerp_(V, 1 / self.corrections)
        return self._actual(team, seen, labels, t)

    def _virtual_and_meta(self, team: Team, seen: Pass, labels: Labels, t: Tensor) -> Tensor:
        """The correction V of this iteration, Eq. (virtual) and Eq. (meta)."""
        chosen, rate = self.options, team.rate
        active = chosen.active if chosen.virtual == "all" else "head"
        crowd = labels.gradients(seen.z, t)  # V = 0

        # virtual: theta_hat = theta - eta_v ∇_theta L_crowd
        moves = seen.gradients(labels.per_peer(crowd.dz), chosen.virtual, again=active == "all")
        theta_hat = team.nets.moved(self.ranks.sums(moves), rate)

        # meta: the gradient G of the other model's distilled batch at theta_hat, then V
        G = self._meta_gradient(team, theta_hat, active)
        u = seen.along(G, active)  # (K, B, C)
        slope = labels.by_group(labels.gradients_along(crowd, u, t))  # (K, G, C, C)
        slope = self.ranks.sum(slope)
        self.skipped += (~slope.isfinite().flatten(1).all(dim=1)).sum()  # `correction` is zero then
        largest = team.largest()
        if chosen.preset == "reference":  # max(T) after the virtual update of T
            T = team.T - rate * self.ranks.sum(labels.by_annotator(crowd.dt))
            largest = T.flatten(1).amax(dim=1)
        return correction(slope, largest, chosen.correction_rate)

    def _actual(self, team: Team, seen: Pass, labels: Labels, t: Tensor) -> Tensor:
        """One optimiser step for theta and T at T + V; T itself never absorbs V. Eq. (actual)."""
        crowd = labels.gradients(seen.z, t)
        return team.step(seen, labels, crowd, self.ranks)

    @torch.no_grad()
    def _distil(self, data: CrowdData) -> list[DistilledSet]:
        """Each model's own distilled set: one evaluation pass, no pass per class."""
        item, label = self.candidates
        C, M = self.shape.n_classes, self.options.meta_size
        training = self.training
        self.eval()
        own = torch.arange(len(data), device=data.device)[self.ranks.part(len(data))]
        log_p = [
            torch.stack([log_softmax(peer.net(x), dim=1) for peer in self._peers()])
            for x in data.source.batches(own, 1024)
        ]
        self.train(training)
        losses = -self.ranks.gather(torch.cat(log_p, dim=1), len(data), dim=1)  # (n_models, N, C)
        chosen = [distil(loss[item, label], label, C, M) for loss in losses]
        return [DistilledSet(item[pick], label[pick]) for pick in chosen]

    def _meta_gradient(self, team: Team, theta_hat: list[Tensor], active: Reach) -> list[Tensor]:
        """G, of a batch that all processes share."""
        M = min(self.options.meta_batch_size, *(len(self.distilled[k].item) for k in team.members))
        with self.ranks.cut(M) as own:
            x, y = self._meta_batch(team.members, own)
            return self.ranks.sums(team.nets.descend(theta_hat, x, y, active, M))

    def _meta_batch(self, peers: list[int], own: slice = slice(None)) -> tuple[Tensor, Tensor]:
        """Items (K, M, …) and classes (K, M) out of the set that each of K peers learns from."""
        assert self.data is not None
        items, labels = [], []
        for k in peers:
            item, label = self.distilled[k]
            pick = torch.randperm(len(item))[: self.options.meta_batch_size].to(item.device)
            items.append(item[pick[own]])
            labels.append(label[pick[own]])
        x, y = self.data.x(torch.cat(items)), torch.stack(labels)
        return x.view(*y.shape, *x.shape[1:]), y

    def memory(self) -> dict[str, Tensor]:
        sets = {
            f"{k}.{name}": codes
            for k, chosen in enumerate(self.distilled)
            for name, codes in chosen._asdict().items()
        }
        return {**sets, "corrections": torch.tensor(self.corrections), "skipped": self.skipped}

    def recall(self, memory: dict[str, Tensor]) -> None:
        device = self._peers()[0].T.device
        kept = {name: value.to(device) for name, value in memory.items()}
        self.corrections, self.skipped = int(kept.pop("corrections")), kept.pop("skipped")
        self.distilled = [
            DistilledSet(kept[f"{k}.item"], kept[f"{k}.label"]) for k in range(len(kept) // 2)
        ]
        for codes, end in (
            *((peer.group, len(peer.V)) for peer in self._peers()),
            *((chosen.item, len(self.data or ())) for chosen in self.distilled),
            *((chosen.label, self.shape.n_classes) for chosen in self.distilled),
        ):
            if codes.ndim != 1 or codes.dtype != torch.int64:
                raise ValueError("groups, items and classes are no lists of codes")
            if len(codes) and not (int(codes.min()) >= 0 and int(codes.max()) < end):
                raise ValueError(f"a group, item or class is not below {end}")
        for team in self.teams:
            team.look()

    def counts(self) -> dict[str, Tensor]:
        """Corrections left out because their meta gradient was not finite."""
        return {"skipped_corrections": self.skipped}

    def predict_each(self, x: Tensor) -> Tensor:
        return torch.cat([probabilities(peer.net, x) for peer in self._peers()])

    def confusions(self) -> Tensor:
        """Rows of T + V softmaxed, V the mean correction of the last epoch, mean of the peers."""
        corrected = [peer.T.detach() + peer.V[peer.group] for peer in self._peers()]
        return torch.stack([T.softmax(dim=2) for T in corrected]).mean(dim=0)

    def groups(self) -> Tensor:
        return self._peers()[0].group

    def _peers(self) -> list[Peer]:
        return [peer for peer in self.peers if isinstance(peer, Peer)]
