"""Coupled Confusion Correction (Zhang et al., AAAI 2024), the heart of crowdwise.

Two classifiers with confusion matrices T^r each. A warm-up trains both as CrowdLayer. Then, every
epoch, each distils a small clean set for the other and groups its annotators by k-means on T; and
in every iteration the group's correction V, zero at first, is found by bi-level optimisation:

    virtual   theta_hat = theta - eta_v ∇_theta L_crowd(theta, T + V)         at V = 0
    meta      V = -eta_m ∇_V L_meta(theta_hat),   eta_m = gamma max(T) / max|∇_V L_meta|
    actual    theta, T  one optimiser step down L_crowd(theta, T + V)         V fixed

The virtual pass starts at V = 0, so its forward pass is the very one the actual step needs, and
∇_V takes one derivative along u (functional/unroll.py) instead of a second-order graph.
"""

import warnings
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax
from torch.optim import Optimizer

from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.errors import InputError
from crowdwise.functional.crowd import crowd_gradients, crowd_gradients_along, scatter
from crowdwise.functional.distil import distil, unique_pairs
from crowdwise.functional.unroll import (
    backward_map,
    call_with,
    correction,
    head_along,
    head_gradient,
    logits_along,
)
from crowdwise.methods.base import MakeNet, Method, make_optimizer, probabilities
from crowdwise.methods.grouping import group_annotators
from crowdwise.methods.options import Options
from crowdwise.nets.net import Net

EPS = 1e-5  # added to the probability of an observed label before the logarithm


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
        self.optimizers = [make_optimizer(options, peer.parameters()) for peer in self.peers]
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
        for peer in self._peers():
            seed = int(torch.randint(2**31 - 1, ()))
            peer.group = group_annotators(peer.T, self.heard, self.n_groups, seed)
        self.corrections = 0  # iterations of this epoch so far
        self.skipped = torch.zeros((), dtype=torch.int64, device=data.device)

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        self.corrections += 1
        losses = [self._update_peer(k, batch) for k in range(len(self.peers))]
        return {"loss": torch.stack(losses).mean()}

    def _update_peer(self, k: int, batch: CrowdBatch) -> Tensor:
        peer = self._peers()[k]
        h = peer.net.features(batch.x)  # (B, D)
        z = peer.net.head(h)  # (B, C)
        T = peer.T.detach()
        t = T[batch.annotator]  # (L, C, C)
        if self.distilled:
            V = self._virtual_and_meta(k, batch, h, z, t)  # (G, C, C)
            t = t + V[peer.group[batch.annotator]]
            peer.V.lerp_(V, 1 / self.corrections)
        return self._actual(peer, self.optimizers[k], batch, z, t)

    def _virtual_and_meta(
        self, k: int, batch: CrowdBatch, h: Tensor, z: Tensor, t: Tensor
    ) -> Tensor:
        """The correction V of this iteration, Eq. (virtual) and Eq. (meta)."""
        peer, chosen = self._peers()[k], self.options
        rate = self.optimizers[k].param_groups[0]["lr"]
        crowd = crowd_gradients(z.detach(), t, batch.row, batch.label, EPS)  # V = 0

        # virtual: theta_hat = theta - eta_v ∇_theta L_crowd
        theta = dict(peer.net.named_parameters())
        head = [name for name in theta if name.startswith("head.")]
        active = list(theta) if (chosen.active, chosen.virtual) == ("all", "all") else head
        back = None
        if chosen.virtual == "head":
            moves = dict(zip(head, head_gradient(h.detach(), crowd.dz), strict=False))
        elif active == head:
            gradients = torch.autograd.grad(z, list(theta.values()), crowd.dz, retain_graph=True)
            moves = dict(zip(theta, gradients, strict=True))
        else:
            back = backward_map(z, list(theta.values()), crowd.dz)
            moves = dict(zip(theta, back.gradients, strict=True))
        theta_hat = {
            name: (weight - rate * moves[name] if name in moves else weight).detach()
            for name, weight in theta.items()
        }

        # meta: the gradient G of the other model's distilled batch at theta_hat, then V
        for name in active:
            theta_hat[name].requires_grad_()
        x, y = self._meta_batch(k)
        meta_loss = cross_entropy(call_with(peer.net, theta_hat, x), y)
        G = torch.autograd.grad(meta_loss, [theta_hat[name] for name in active])
        u = logits_along(back, G) if back else head_along(h.detach(), *G)  # (B, C)
        along = crowd_gradients_along(z.detach(), u, t, batch.row, batch.label, EPS)
        slope = scatter(along, peer.group[batch.annotator], len(peer.V))
        self.skipped += ~slope.isfinite().all()  # `correction` is zero then
        largest = peer.T.detach().max()
        if chosen.preset == "reference":  # max(T) after the virtual update of T
            largest = (
                peer.T.detach() - rate * scatter(crowd.dt, batch.annotator, len(peer.T))
            ).max()
        return correction(slope, largest, chosen.correction_rate)

    def _actual(
        self, peer: Peer, optimizer: Optimizer, batch: CrowdBatch, z: Tensor, t: Tensor
    ) -> Tensor:
        """One optimiser step for theta and T at T + V; T itself never absorbs V. Eq. (actual)."""
        crowd = crowd_gradients(z.detach(), t, batch.row, batch.label, EPS)
        optimizer.zero_grad()
        z.backward(crowd.dz)  # type: ignore[no-untyped-call]
        peer.T.grad = scatter(crowd.dt, batch.annotator, len(peer.T))
        optimizer.step()
        return crowd.loss

    @torch.no_grad()
    def _distil(self, data: CrowdData) -> list[DistilledSet]:
        """Each model's own distilled set: one evaluation pass, no pass per class."""
        item, label = self.candidates
        C, M = self.shape.n_classes, self.options.meta_size
        training = self.training
        self.eval()
        log_p = [
            torch.stack([log_softmax(peer.net(x), dim=1) for peer in self._peers()])
            for _, x in data.inputs(1024)
        ]
        self.train(training)
        losses = -torch.cat(log_p, dim=1)  # (n_models, N, C)
        chosen = [distil(loss[item, label], label, C, M) for loss in losses]
        return [DistilledSet(item[pick], label[pick]) for pick in chosen]

    def _meta_batch(self, k: int) -> tuple[Tensor, Tensor]:
        assert self.data is not None
        item, label = self.distilled[k]
        pick = torch.randperm(len(item))[: self.options.meta_batch_size].to(item.device)
        return self.data.x(item[pick]), label[pick]

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
