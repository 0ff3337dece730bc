"""A method built around a net given by name, as a module or as a function that makes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from torch import nn

from crowdwise import methods, nets
from crowdwise.batches import CrowdShape
from crowdwise.errors import InputError
from crowdwise.methods.base import Method

UserNet: TypeAlias = str | nn.Module | Callable[[], nn.Module]


def build(method: str, net: UserNet, shape: CrowdShape, settings: dict[str, Any]) -> Method:
    """The method, each of its models with a net of its own."""
    return methods.create(method, lambda: _make(net, shape), shape, settings)


def _make(net: UserNet, shape: CrowdShape) -> nets.Net:
    if isinstance(net, str):
        return nets.make(net, shape.input, shape.n_classes)
    if isinstance(net, nn.Module):  # copied with its weights; only the head starts anew
        copy = nets.with_head(net)
        copy.head.reset_parameters()
    else:
        made = net()
        copy = made if isinstance(made, nets.Net) else nets.with_head(made)
    if copy.head.out_features != shape.n_classes:
        raise InputError(
            f"the net's last layer has {copy.head.out_features} outputs, the crowd "
            f"{shape.n_classes} classes; give it one output for each class"
        )
    return copy
