"""K fully connected nets computed as one, in closed form (functional/layers.py).

Such nets are so small that their price is the calls, not the arithmetic: K nets side by side take
little longer than one, and writing the derivatives down saves autograd's share.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from crowdwise.functional.layers import Dropout, Layer, Linear, Norm, ReLU
from crowdwise.methods.passes import Nets, Pass, Reach
from crowdwise.nets.net import Net


class Together(Nets):
    """K fully connected nets of one shape, their weights kept in one tensor for all K."""

    def __init__(self, nets: Sequence[Net]) -> None:
        self.nets = nets
        self.parts = [[*_chain(net.backbone), net.head] for net in nets]
        self.n_weights = [len(list(part.parameters())) for part in self.parts[0]]
        self.weights = list(zip(*(net.parameters() for net in nets), strict=True))
        self.n_head = 2

    @staticmethod
    def takes(nets: Sequence[Net], input_shape: tuple[int, ...]) -> bool:
        """Are these chains of linear layers, ReLU, dropout and batch norm, of one shape?"""
        first = next(iter(nets[0].backbone.modules()))
        while type(first) is nn.Sequential and len(first):
            first = first[0]
        if len(input_shape) > 1 and not isinstance(first, nn.Flatten):
            return False
        chains = [[*_chain(net.backbone), net.head] for net in nets]
        shapes = {str(chain) for chain in chains}
        apart = {id(layer) for chain in chains for layer in chain}
        return (
            len(shapes) == 1
            and len(apart) == sum(map(len, chains))
            and all(_is_known(layer) for layer in chains[0])
        )

    def tie(self) -> None:
        """Make every net's weights and statistics a slice of one tensor for all K nets."""
        self.theta = [tie(same) for same in self.weights]
        self.norms = [
            [tie(same) for same in zip(*(part.buffers() for part in parts), strict=True)]
            for parts in zip(*self.parts, strict=True)
            if isinstance(parts[0], nn.BatchNorm1d)
        ]

    def forward(self, x: Tensor) -> Pass:
        with self.nets[0].autocast():  # what the backbones run in: it may say who draws what
            return TogetherPass(self, self.theta, x.flatten(1)[None], moving=True)

    def descend(
        self, theta: Sequence[Tensor], x: Tensor, y: Tensor, reach: Reach, of: int | None = None
    ) -> list[Tensor]:
        with self.nets[0].autocast():
            seen = TogetherPass(self, theta, x.flatten(2), moving=False)
        wrong = seen.z.softmax(dim=2)
        wrong.scatter_add_(2, y[:, :, None], wrong.new_full((*y.shape, 1), -1.0))
        return seen.gradients(wrong / (of or y.shape[1]), reach)


class TogetherPass(Pass):
    def __init__(self, nets: Together, theta: Sequence[Tensor], h: Tensor, moving: bool) -> None:
        self.nets = nets
        self.layers: list[tuple[Layer, int]] = []  # with the number of its weights
        weights, norms = iter(theta), iter(nets.norms)
        for part, n_weights in zip(nets.parts[0], nets.n_weights, strict=True):
            own = [next(weights) for _ in range(n_weights)]
            layer: Layer
            if isinstance(part, nn.Linear):
                layer = Linear(h, *own)
            elif isinstance(part, nn.ReLU):
                layer = ReLU(h)
            elif isinstance(part, nn.Dropout):
                layer = Dropout(h, part.p, len(nets.nets))
            else:
                assert isinstance(part, nn.BatchNorm1d)
                *running, count = next(norms)
                everyone = getattr(part, "everyone", None)  # who share the batch
                total = everyone.sum if everyone is not None and everyone.size > 1 else None
                momentum = part.momentum if moving else None
                layer = Norm(h, own, running, part.eps, momentum, total)
                if moving and layer.by_batch:
                    count += 1
            self.layers.append((layer, n_weights))
            h = layer.y
        self.z = h

    def gradients(self, dz: Tensor, reach: Reach, again: bool = False) -> list[Tensor]:
        layers = self.layers[-1:] if reach == "head" else self.layers
        first = next(i for i, (_, n_weights) in enumerate(layers) if n_weights)
        found: list[Tensor] = []
        dy: Tensor | None = dz
        for i in range(len(layers) - 1, first - 1, -1):
            assert dy is not None
            dy, own = layers[i][0].back(dy, further=i > first)
            found = own + found
        return found

    def along(self, G: Sequence[Tensor], reach: Reach) -> Tensor:
        directions = iter(G)
        u: Tensor | None = None
        for layer, n_weights in self.layers[-1:] if reach == "head" else self.layers:
            u = layer.along(u, [next(directions) for _ in range(n_weights)])
        assert u is not None
        return u

    def backward(self, dz: Tensor) -> None:
        for same, gradients in zip(self.nets.weights, self.gradients(dz, "all"), strict=True):
            for weight, gradient in zip(same, gradients, strict=True):
                weight.grad = gradient


def tie(tensors: Sequence[Tensor]) -> Tensor:
    """Lay tensors into one, (K, …), and make each a slice of it: what changes one changes both.

    Example:
        >>> one, two = torch.zeros(2), torch.ones(2)
        >>> both = tie([one, two])
        >>> one += 5
        >>> both.tolist()
        [[5.0, 5.0], [1.0, 1.0]]
    """
    together = torch.stack([tensor.detach() for tensor in tensors])
    for tensor, part in zip(tensors, together, strict=True):
        tensor.data = part
    return together


def _chain(module: nn.Module) -> list[nn.Module]:
    """The layers of nested `nn.Sequential`s in their order, those that compute nothing left out."""
    if type(module) is nn.Sequential:
        return [layer for part in module for layer in _chain(part)]
    idle = isinstance(module, nn.Flatten | nn.Identity) or getattr(module, "p", None) == 0
    return [] if idle else [module]


def _is_known(layer: nn.Module) -> bool:
    """Is this one of the layers of `functional/layers.py`, and nothing but that?"""
    if type(layer).__module__.partition(".")[0] not in ("torch", "crowdwise"):
        return False  # a user's own kind of it may do anything
    if layer._forward_hooks or layer._forward_pre_hooks or hasattr(layer, "parametrizations"):
        return False
    if not all(weight.requires_grad for weight in layer.parameters()):
        return False
    match layer:
        case nn.Linear():
            return layer.bias is not None
        case nn.BatchNorm1d():
            return layer.track_running_stats and layer.momentum is not None
        case nn.Dropout():
            return layer.p < 1
    return isinstance(layer, nn.ReLU)
