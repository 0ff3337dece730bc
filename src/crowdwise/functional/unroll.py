"""One virtual step of gradient descent, and how the logits feel its derivative.

With theta_hat = theta - eta ∇_theta L(z(theta), V), the meta gradient is

    ∇_V L_meta(theta_hat) = -eta · d/dε [ ∇_V L(z + ε u, V) ] at ε = 0,   u = J_z(theta) · G,

G being the gradient of the meta loss at theta_hat. So all that is needed of the network is u,
the directional derivative of its logits along G; no second-order graph over the crowd's labels.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import one_hot


class Backward(NamedTuple):
    """The parameters' gradients as a linear map of the upstream gradient, still attached."""

    upstream: Tensor  # (B, C)
    gradients: tuple[Tensor, ...]  # one per parameter: J^T · upstream


def backward_map(z: Tensor, parameters: Sequence[Tensor], dz: Tensor) -> Backward:
    """Backpropagate dz through z and keep the map, so that `logits_along` can transpose it."""
    upstream = dz.detach().clone().requires_grad_()
    gradients = torch.autograd.grad(z, tuple(parameters), upstream, create_graph=True)
    return Backward(upstream, gradients)


def logits_along(back: Backward, direction: Sequence[Tensor]) -> Tensor:
    """u = J · direction (B, C), by transposing the backward map: <J^T v, G> = <v, J G>.

    The same graph serves, so dropout masks and batch statistics are those of the first pass.
    """
    (u,) = torch.autograd.grad(back.gradients, back.upstream, tuple(direction), retain_graph=True)
    return u


def head_gradient(h: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
    """Gradient of a linear head: dW (C, D) and db (C,) from features h (B, D) and dz (B, C)."""
    return dz.T @ h, dz.sum(dim=0)


def cross_entropy_gradient(z: Tensor, label: Tensor) -> Tensor:
    """dz of the mean cross entropy: (softmax(z) - e_y) / B.

    Example:
        >>> cross_entropy_gradient(torch.zeros(1, 2), torch.tensor([1])).tolist()
        [[0.5, -0.5]]
    """
    return (z.softmax(dim=1) - one_hot(label, z.shape[1])) / len(label)


def call_with(module: nn.Module, parameters: dict[str, Tensor], x: Tensor) -> Tensor:
    """Run `module` with other parameters and on copies of its buffers: running statistics stay."""
    buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
    result: Tensor = functional_call(module, {**parameters, **buffers}, (x,))
    return result
