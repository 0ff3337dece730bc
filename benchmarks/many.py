"""Many small CCC trainings at once: a net with one hidden layer, gradients in closed form.

For choosing options, where hundreds of runs on a few hundred items are compared. P peers (runs ×
models) lie along the first axis of every tensor. The equations are `methods/ccc.py`'s; with
gamma = 0 they are CrowdLayer's. Labels lie dense, (P, B, R·C), which suits tens of annotators.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from crowdwise.annotations import Annotations

EPS = 1e-5


@dataclass(frozen=True, kw_only=True)
class Options:
    """As in `methods/ccc.py`, and what is only tried here."""

    epochs: int = 200
    warmup: int = 50
    batch: int = 128
    lr: float = 1e-2
    schedule: str = "constant"  # or cosine
    weight_decay: float = 0.0
    gamma: float = 0.3
    n_groups: int = 20
    meta_size: int = 160
    meta_batch: int = 128
    active: str = "all"
    virtual: str = "all"
    coupled: bool = True
    models: int = 2
    hidden: int = 128
    dropout: float = 0.5
    norm: tuple[bool, bool] = (True, True)  # of the inputs, of the hidden layer
    rate_of_T: float = 1.0  # learning rate of T over that of the net
    fresh_dropout: bool = False  # the actual step draws its own mask, as in the released code
    own_batches: bool = False  # every model its own order
    joint_groups: bool = False  # one k-means on both models' T
    start_of_T: str = ""  # a truth inference method whose confusions T starts from


class Labels(NamedTuple):
    """Up to S labels of every item."""

    annotator: Tensor  # (N, S), -1 where there is none
    label: Tensor  # (N, S)
    R: int
    C: int


class Cache(NamedTuple):
    """What a forward pass leaves to the backward one."""

    x: Tensor
    a: Tensor
    mask: Tensor | None
    h: Tensor
    scale: Tensor | None
    statistics: list[tuple[Tensor, Tensor] | None]


def labels_of(crowd: Annotations) -> Labels:
    """The crowd's labels, item by item."""
    offsets, order = crowd.by_item
    counts = np.diff(offsets)
    place = np.arange(len(order)) - np.repeat(offsets[:-1], counts)
    item = np.repeat(np.arange(crowd.n_items), counts)
    annotator = np.full((crowd.n_items, counts.max()), -1)
    label = np.zeros_like(annotator)
    annotator[item, place], label[item, place] = crowd.annotator[order], crowd.label[order]
    R, C = crowd.n_annotators, len(crowd.classes)
    return Labels(torch.as_tensor(annotator), torch.as_tensor(label), R, C)


class Many:
    """P = runs × models peers of one data set; run k trains on the items rows[k]."""

    def __init__(
        self, X: Tensor, labels: Labels, rows: Tensor, options: Options, seed: int, T: Tensor | None
    ) -> None:
        torch.set_flush_denormal(True)
        self.X, self.labels, self.o = X, labels, options
        self.generator = torch.Generator().manual_seed(seed)
        self.bytes = np.random.default_rng(seed)
        m, H, D, (R, C) = options.models, options.hidden, X.shape[1], labels[2:]
        P = self.P = len(rows) * m
        self.rows = rows.repeat_interleave(m, 0)  # (P, n)
        self.theta = [
            self._uniform(D, P, D, H),
            self._uniform(D, P, 1, H),
            self._uniform(H, P, H, C),
            self._uniform(H, P, 1, C),
        ]
        self.T = torch.eye(C).repeat(P, R, 1, 1) if T is None else T.repeat_interleave(m, 0)
        self.moments = [(torch.zeros_like(q), torch.zeros_like(q)) for q in [*self.theta, self.T]]
        self.running = [(torch.zeros(P, 1, d), torch.ones(P, 1, d)) for d in (D, H)]
        self.steps = 0
        peers = torch.arange(P)
        other = peers.view(-1, m).roll(-1, 1).reshape(-1)
        self.teacher = other if options.coupled else peers
        said = labels.annotator[self.rows] >= 0  # (P, n, S)
        peer, place, slot = said.nonzero(as_tuple=True)
        self.given = torch.zeros(P, rows.shape[1], C, dtype=torch.bool)
        self.given[peer, place, labels.label[self.rows][peer, place, slot]] = True

    def train(self, on_epoch: Callable[[int], None] | None = None) -> None:
        for epoch in range(self.o.epochs):
            cosine = (1 + math.cos(math.pi * epoch / self.o.epochs)) / 2
            self.lr = self.o.lr * (cosine if self.o.schedule == "cosine" else 1.0)
            self.correcting = epoch >= self.o.warmup and self.o.gamma > 0
            if self.correcting:
                self._distil()
                self._group()
            for items in torch.split(self._order(), self.o.batch, dim=1):
                self._iteration(items)
            if on_epoch:
                on_epoch(epoch)

    def predict(self, x: Tensor) -> Tensor:
        """(runs, models, n, C) of inputs (n, D), or (runs, n, D) of each run's own."""
        m = self.o.models
        each = x.expand(self.P, -1, -1) if x.ndim == 2 else x.repeat_interleave(m, 0)
        z, _ = self._forward(each, self.theta, None, self.running)
        return z.softmax(2).view(-1, m, *z.shape[1:])

    def _iteration(self, items: Tensor) -> None:
        P, (R, C), B = self.P, self.labels[2:], items.shape[1]
        annotator = self.labels.annotator[items]
        peer, row, slot = (annotator >= 0).nonzero(as_tuple=True)
        y = self.labels.label[items][peer, row, slot][:, None]
        spot = (peer * B + row) * R + annotator[peer, row, slot]  # in (P, B, R)
        share = 1 / torch.bincount(peer, minlength=P)[peer]

        def at_labels(p: Tensor, T: Tensor) -> Tensor:  # p_i T^r of every observed label, (L, C)
            return torch.bmm(p, T).view(P * B * R, C)[spot]

        def dense(rows: Tensor) -> Tensor:
            return rows.new_zeros(P * B * R, C).index_copy_(0, spot, rows).view(P, B, R * C)

        def crowd(p: Tensor, T: Tensor) -> tuple[Tensor, ...]:
            a = at_labels(p, T).softmax(1)
            a_y = a.gather(1, y)[:, 0]
            weight = a_y / (a_y + EPS) * share
            miss = a.scatter_add(1, y, -torch.ones_like(a_y)[:, None])
            ds = dense(weight[:, None] * miss)
            return a, a_y, weight, miss, ds, _through(p, torch.bmm(ds, T.mT))

        x = self.X[items]
        z, cache = self._forward(x, self.theta, self._mask(B))
        p, T = z.softmax(2), self.T.transpose(1, 2).reshape(P, C, R * C)
        if self.correcting:
            a, a_y, weight, miss, ds, dz = crowd(p, T)
            u = self._meta(cache, dz)
            p_dot = _through(p, u)
            s_dot = at_labels(p_dot, T)
            a_dot = a * (s_dot - (a * s_dot).sum(1, keepdim=True))
            weight_dot = a_dot.gather(1, y)[:, 0] * EPS / (a_y + EPS) ** 2 * share
            ds_dot = dense(weight[:, None] * a_dot + weight_dot[:, None] * miss)
            along = torch.bmm(p_dot.mT, ds) + torch.bmm(p.mT, ds_dot)
            T = T + self._correction(along.view(P, C, R, C).transpose(1, 2))
            if self.o.fresh_dropout:
                z, cache = self._forward(x, self.theta, self._mask(B))
                p = z.softmax(2)
        *_, ds, dz = crowd(p, T)
        dT = torch.bmm(p.mT, ds).view(P, C, R, C).transpose(1, 2)
        self._adam([*self._backward(cache, self.theta, dz), dT])
        for running, now in zip(self.running, cache.statistics, strict=True):
            if now:
                running[0].lerp_(now[0], 0.1)
                running[1].lerp_(now[1] * B / max(B - 1, 1), 0.1)

    def _meta(self, cache: Cache, dz: Tensor) -> Tensor:
        """Virtual and meta steps: u (P, B, C), how the logits move along the meta gradient."""
        moves = self._backward(cache, self.theta, dz)
        if self.o.virtual == "head":
            moves[:2] = [torch.zeros_like(move) for move in moves[:2]]
        hat = [q - self.lr * move for q, move in zip(self.theta, moves, strict=True)]
        items, classes = self.distilled
        pick = self._rand(*items.shape).argsort(1)[:, : self.o.meta_batch]
        x, y = self.X[items.gather(1, pick)], classes.gather(1, pick)
        z, meta = self._forward(x, hat, self._mask(pick.shape[1]))
        G = self._backward(meta, hat, (z.softmax(2) - one_hot(y, self.labels.C)) / y.shape[1])
        u = torch.baddbmm(G[3], cache.h, G[2])
        if (self.o.active, self.o.virtual) == ("all", "all"):
            a_dot = self._masked(torch.baddbmm(G[1], cache.x, G[0]), cache)
            if cache.scale is not None:
                a_dot = _norm_backward(cache.h, cache.scale, a_dot)
            u = u + torch.bmm(a_dot, self.theta[2])
        return u

    def _correction(self, along: Tensor) -> Tensor:
        """V of every annotator, laid out as T is in an iteration, from `along` (P, R, C, C)."""
        P, R, C, _ = along.shape
        flat = (torch.arange(P)[:, None] * R + self.group).reshape(-1)
        slope = torch.zeros(P * R, C, C).index_add_(0, flat, along.reshape(P * R, C, C))
        steepest = slope.view(P, -1).abs().amax(1).clamp(min=1e-30)
        size = self.o.gamma * self.T.amax((1, 2, 3)) / steepest
        V = (slope[flat].view(P, R, C, C) * size[:, None, None, None]).transpose(1, 2)
        return V.reshape(P, C, R * C)

    def _distil(self) -> None:
        C = self.labels.C
        z, _ = self._forward(self.X[self.rows], self.theta, None, self.running)
        loss = -z.log_softmax(2).masked_fill(~self.given, -torch.inf)
        k = max(1, self.o.meta_size // C)
        easiest = loss.topk(k, dim=1, largest=False).indices  # (P, k, C)
        items = self.rows.gather(1, easiest.reshape(self.P, -1))[self.teacher]
        self.distilled = items, torch.arange(C).expand(self.P, k, C).reshape(self.P, -1)

    def _group(self) -> None:
        R, C, m = self.labels.R, self.labels.C, self.o.models
        if self.o.n_groups >= R:
            self.group = torch.arange(R).expand(self.P, R)
            return
        flat = self.T.reshape(self.P, R, C * C)
        if self.o.joint_groups:
            flat = flat.view(-1, m, R, C * C).transpose(1, 2).flatten(2).repeat_interleave(m, 0)
        self.group = k_means(flat, self.o.n_groups, self.generator)

    def _forward(
        self,
        x: Tensor,
        theta: Sequence[Tensor],
        mask: Tensor | None,
        running: Sequence[tuple[Tensor, Tensor]] = (),
    ) -> tuple[Tensor, Cache]:
        statistics: list[tuple[Tensor, Tensor] | None] = [None, None]
        scale = None
        if self.o.norm[0]:
            x, _, statistics[0] = _norm(x, running[0] if running else None)
        a = torch.baddbmm(theta[1], x, theta[0])
        h = a.clamp(min=0) if mask is None else a.clamp(min=0) * mask
        if self.o.norm[1]:
            h, scale, statistics[1] = _norm(h, running[1] if running else None)
        return torch.baddbmm(theta[3], h, theta[2]), Cache(x, a, mask, h, scale, statistics)

    def _backward(self, cache: Cache, theta: Sequence[Tensor], dz: Tensor) -> list[Tensor]:
        dh = torch.bmm(dz, theta[2].mT)
        if cache.scale is not None:
            dh = _norm_backward(cache.h, cache.scale, dh)
        da = self._masked(dh, cache)
        last = torch.bmm(cache.h.mT, dz), dz.sum(1, keepdim=True)
        return [torch.bmm(cache.x.mT, da), da.sum(1, keepdim=True), *last]

    def _masked(self, d: Tensor, cache: Cache) -> Tensor:
        d = d * (cache.a > 0)
        return d if cache.mask is None else d * cache.mask

    def _adam(self, gradients: Sequence[Tensor]) -> None:
        self.steps += 1
        first, second = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        parameters = [*self.theta, self.T]
        for q, g, (mean, square) in zip(parameters, gradients, self.moments, strict=True):
            if self.o.weight_decay:
                g = g + self.o.weight_decay * q
            mean.lerp_(g, 0.1)
            square.mul_(0.999).addcmul_(g, g, value=0.001)
            rate = self.lr * (self.o.rate_of_T if q is self.T else 1.0)
            q.addcdiv_(mean, (square / second).sqrt_().add_(1e-8), value=-rate / first)

    def _order(self) -> Tensor:
        m, n = self.o.models, self.rows.shape[1]
        draws = self._rand(self.P if self.o.own_batches else self.P // m, n).argsort(1)
        if not self.o.own_batches:
            draws = draws.repeat_interleave(m, 0)
        return self.rows.gather(1, draws)

    def _mask(self, B: int) -> Tensor | None:
        if self.o.dropout == 0:
            return None
        H, drop = self.o.hidden, round(256 * self.o.dropout)
        bits = np.frombuffer(self.bytes.bytes(self.P * B * H), np.uint8).reshape(self.P, B, H)
        return torch.from_numpy((bits >= drop).astype(np.float32)).mul_(256 / (256 - drop))

    def _rand(self, *shape: int) -> Tensor:
        return torch.rand(shape, generator=self.generator)

    def _uniform(self, fan_in: int, *shape: int) -> Tensor:
        return (2 * self._rand(*shape) - 1) / math.sqrt(fan_in)


def k_means(points: Tensor, k: int, generator: torch.Generator, rounds: int = 12) -> Tensor:
    """Cluster of each point, (P, R), of P sets of points (P, R, D): k-means++ and Lloyd."""
    every = torch.arange(len(points))
    start = torch.randint(points.shape[1], (len(points),), generator=generator)
    centres = [points[every, start]]
    nearest = ((points - centres[0][:, None]) ** 2).sum(2)
    for _ in range(k - 1):
        pick = torch.multinomial(nearest + 1e-12, 1, generator=generator)[:, 0]
        centres.append(points[every, pick])
        nearest = torch.minimum(nearest, ((points - centres[-1][:, None]) ** 2).sum(2))
    middle = torch.stack(centres, 1)
    for _ in range(rounds):
        cluster = ((middle**2).sum(2)[:, None] - 2 * points @ middle.mT).argmin(2)
        member = one_hot(cluster, k).to(points)
        size = member.sum(1)[:, :, None]
        middle = torch.where(size > 0, member.mT @ points / size.clamp(min=1), middle)
    return cluster


def _through(p: Tensor, d: Tensor) -> Tensor:
    """The derivative of softmax, applied to d."""
    return p * (d - (p * d).sum(2, keepdim=True))


def _norm(
    x: Tensor, running: tuple[Tensor, Tensor] | None
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
    if running is None:
        mean = x.mean(1, keepdim=True)
        centred = x - mean
        variance = (centred * centred).mean(1, keepdim=True)
    else:
        mean, variance = running
        centred = x - mean
    scale = (variance + 1e-5).rsqrt()
    return centred * scale, scale, (mean, variance)


def _norm_backward(h: Tensor, scale: Tensor, d: Tensor) -> Tensor:
    """Of batch norm without weights, given its output h: symmetric, so it is the tangent too."""
    return (d - d.mean(1, keepdim=True) - h * (d * h).mean(1, keepdim=True)) * scale
