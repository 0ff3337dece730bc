"""What CCC asks of its classifiers: a pass over a batch that can be gone back and along.

A pass keeps what is needed to ask, as often as wanted, for gradients (Jᵀ dz) and for how the logits
move along a direction of the weights (J G). `Alone` asks autograd, for one net of any kind;
`together.py` computes K fully connected nets at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from crowdwise.functional.unroll import (
    Backward,
    backward_map,
    call_with,
    head_along,
    head_gradient,
    logits_along,
)
from crowdwise.nets.net import Net

Reach = Literal["head", "all"]  # the last linear layer, or every layer


class Pass(ABC):
    """A batch's way through K nets, in training mode."""

    z: Tensor  # (K, B, C) logits, no graph attached

    @abstractmethod
    def gradients(self, dz: Tensor, reach: Reach, again: bool = False) -> list[Tensor]:
        """Jᵀ dz for the weights in reach; `again` if `along` is to follow over as many."""

    @abstractmethod
    def along(self, G: Sequence[Tensor], reach: Reach) -> Tensor:
        """u = J G (K, B, C): how the logits move when the weights in reach move by G."""

    @abstractmethod
    def backward(self, dz: Tensor) -> None:
        """Set the gradient of every weight of every net."""


class Nets(ABC):
    """K nets that are shown the same batches.

    `theta` lists their weights, those of the K nets stacked along the first axis, the head's last.
    """

    theta: list[Tensor]
    n_head: int  # how many of them are the head's

    @abstractmethod
    def tie(self) -> None:
        """Called when the nets may lie elsewhere than before: moved, converted or copied."""

    @abstractmethod
    def forward(self, x: Tensor) -> Pass:
        """One pass over a batch (B, …); running statistics move."""

    @abstractmethod
    def descend(
        self, theta: Sequence[Tensor], x: Tensor, y: Tensor, reach: Reach, of: int | None = None
    ) -> list[Tensor]:
        """G: gradients of the cross entropy of x (K, M, …), y (K, M) at other weights.

        The mean over the M, or their sum over `of`, the number all processes have together.
        """

    def within(self, reach: Reach) -> int:
        """How many weights at the end of `theta` are in reach."""
        return self.n_head if reach == "head" else len(self.theta)

    def moved(self, moves: Sequence[Tensor], rate: float) -> list[Tensor]:
        """theta - rate · moves, where there are moves for the last weights only."""
        still = len(self.theta) - len(moves)
        moving = zip(self.theta[still:], moves, strict=True)
        return [*self.theta[:still], *(torch.sub(w, m, alpha=rate) for w, m in moving)]


class Alone(Nets):
    """One net of any kind, differentiated by autograd."""

    def __init__(self, net: Net) -> None:
        self.net = net
        named = {name: w for name, w in net.named_parameters() if w.requires_grad}
        head = [name for name in named if name.startswith("head.")]
        self.names = [name for name in named if name not in head] + head
        self.weights = [named[name] for name in self.names]
        self.n_head = len(head)

    def tie(self) -> None:
        """One net's weights are together already."""

    @property
    def theta(self) -> list[Tensor]:  # type: ignore[override]
        return [weight.detach()[None] for weight in self.weights]

    def forward(self, x: Tensor) -> Pass:
        return AlonePass(self, x)

    def descend(
        self, theta: Sequence[Tensor], x: Tensor, y: Tensor, reach: Reach, of: int | None = None
    ) -> list[Tensor]:
        weights = [weight[0] for weight in theta]
        active = [w.requires_grad_() for w in weights[len(weights) - self.within(reach) :]]
        z = call_with(self.net, dict(zip(self.names, weights, strict=True)), x[0])
        loss = cross_entropy(z, y[0]) * (len(z) / (of or len(z)))
        return [G[None] for G in torch.autograd.grad(loss, active)]


class AlonePass(Pass):
    def __init__(self, nets: Alone, x: Tensor) -> None:
        self.nets = nets
        h = nets.net.features(x)
        self.attached: Tensor = nets.net.head(h)
        self.z = self.attached.detach()[None]
        self.h = h.detach()  # (B, D)
        self.back: Backward | None = None

    def gradients(self, dz: Tensor, reach: Reach, again: bool = False) -> list[Tensor]:
        if reach == "head":
            found = head_gradient(self.h, dz[0])[: self.nets.n_head]
        elif again:
            self.back = backward_map(self.attached, self.nets.weights, dz[0])
            found = tuple(gradient.detach() for gradient in self.back.gradients)
        else:
            found = torch.autograd.grad(self.attached, self.nets.weights, dz[0], retain_graph=True)
        return [gradient[None] for gradient in found]

    def along(self, G: Sequence[Tensor], reach: Reach) -> Tensor:
        directions = [direction[0] for direction in G]
        if reach == "head":
            return head_along(self.h, *directions)[None]
        assert self.back is not None
        return logits_along(self.back, directions)[None]

    def backward(self, dz: Tensor) -> None:
        self.attached.backward(dz[0])  # type: ignore[no-untyped-call]
