"""One virtual step of gradient descent, and how the crowd's loss feels its derivative.

With theta_hat = theta - eta_v ∇_theta L(z(theta), V) and G the gradient of the meta loss at
theta_hat, the meta gradient needs one directional derivative of the logits only:

    ∇_V L_meta(theta_hat) = -eta_v · d/dε [ ∇_V L(z + εu, V) ] at ε = 0,   u = J_z(theta) · G.

With only the head active, u_i = G_W h_i + G_b and the network is not differentiated twice.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call


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
    """u = J · direction, (B, C), by transposing the backward map: <J^T v, G> = <v, J G>.

    The graph of the first pass serves again, so dropout masks and batch statistics are its own.
    """
    (u,) = torch.autograd.grad(back.gradients, back.upstream, tuple(direction), retain_graph=True)
    return u


def head_gradient(h: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
    """Gradient of a linear head: dW (C, D) and db (C,) from features h (B, D) and dz (B, C).

    Example:
        >>> head_gradient(torch.ones(1, 2), torch.tensor([[3.0]]))
        (tensor([[3., 3.]]), tensor([3.]))
    """
    return dz.T @ h, dz.sum(dim=0)


def head_along(h: Tensor, dW: Tensor, db: Tensor) -> Tensor:
    """u = h dW^T + db, (B, C): how the logits move when the head moves by (dW, db)."""
    return h @ dW.T + db


def correction(slope: Tensor, largest: Tensor, rate: float) -> Tensor:
    """V = rate · max(T) / max|slope| · slope; zero where the slope is zero or not finite.

    The paper's V = -eta_m g with eta_m = gamma max(T) / max|g| and g = -eta_v · slope: every
    positive factor of g cancels, eta_v included.

    Args:
        slope: (K, G, C, C) d/dε ∇_V L along u, of K models.
        largest: (K,) the largest entry of each T.
        rate: gamma, the correction rate.
    """
    steepest = slope.flatten(1).abs().amax(dim=1)
    usable = steepest.isfinite() & (steepest > 0)
    per_model = (-1, 1, 1, 1)
    scaled = slope * (rate * largest / steepest).view(per_model)
    return torch.where(usable.view(per_model), scaled, 0.0)


def call_with(module: nn.Module, parameters: dict[str, Tensor], x: Tensor) -> Tensor:
    """Run `module` with other parameters and on copies of its buffers: running statistics stay."""
    buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
    result: Tensor = functional_call(module, {**parameters, **buffers}, (x,))
    return result
