"""A network in two parts: a backbone that makes features, and the last linear layer."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy

import torch
from torch import Tensor, nn

from crowdwise.errors import InputError
from crowdwise.nets.norm import survive_one_row


class Net(nn.Module):
    """A backbone and its last linear layer: logits = head(features).

    `autocast` is a context the backbone runs in (the engine sets Fabric's); features and head are
    never below float32. It is no part of the state dict.

    Example:
        >>> net = Net(nn.Flatten(), nn.Linear(4, 3))
        >>> net(torch.zeros(5, 2, 2)).shape
        torch.Size([5, 3])
    """

    backbone: nn.Module
    head: nn.Linear
    autocast: Callable[[], AbstractContextManager[object]]

    def __init__(self, backbone: nn.Module, head: nn.Linear) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head
        self.autocast = nullcontext

    def features(self, x: Tensor) -> Tensor:
        """What the head sees, (B, D), float32 or wider."""
        with self.autocast():
            h: Tensor = self.backbone(x)
        h = h.flatten(1)
        return h.float() if h.dtype in (torch.bfloat16, torch.float16) else h

    def forward(self, x: Tensor) -> Tensor:
        """Logits, (B, C), float32 or wider."""
        h = self.features(x)
        with torch.autocast(h.device.type, enabled=False):
            logits: Tensor = self.head(h)
        return logits


def with_head(module: nn.Module, name: str | None = None, sample: Tensor | None = None) -> Net:
    """Split any module at its last linear layer; the module itself stays as it was.

    Batch norm in the copy is `nets.norm`'s: a last batch of one item is no error in training.

    Args:
        module: a network whose output is that of one `nn.Linear`, the logits.
        name: the dotted name of that layer; None takes the last `nn.Linear` of the module.
        sample: a batch to check on that nothing follows the layer and nothing goes around it.

    Example:
        >>> net = with_head(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
        >>> net.head
        Linear(in_features=8, out_features=3, bias=True)
    """
    backbone = survive_one_row(deepcopy(module))
    linear = {n: m for n, m in backbone.named_modules() if isinstance(m, nn.Linear)}
    kind = type(module).__name__
    if not linear:
        raise InputError(f"{kind} has no nn.Linear; its last layer must be one, giving the logits")
    if name is None:
        name = list(linear)[-1]
    if name not in linear:
        known = ", ".join(repr(n) for n in linear)
        raise InputError(f"{kind} has no nn.Linear named {name!r}; the ones it has: {known}")
    head = linear[name]
    if name:
        parent, _, attribute = name.rpartition(".")
        setattr(backbone.get_submodule(parent), attribute, nn.Identity())
    else:
        backbone = nn.Identity()
    net = Net(backbone, head)
    if sample is not None:
        _check_split(module, net, name, sample)
    return net


@torch.no_grad()
def _check_split(module: nn.Module, net: Net, name: str, sample: Tensor) -> None:
    whole, split = deepcopy(module).eval(), deepcopy(net).eval()
    expected = whole(sample)
    try:
        features = split.features(sample)
    except (RuntimeError, AttributeError, TypeError) as error:
        raise InputError(
            f"{name!r} is not the last layer: without it the module fails ({error}); "
            "name the layer whose output is the logits"
        ) from error
    if features.shape != (len(sample), split.head.in_features):
        raise InputError(
            f"{name!r} is not the last layer: without it the module gives features of shape "
            f"{tuple(features.shape)}, the layer takes {split.head.in_features} per item; "
            "name the layer whose output is the logits"
        )
    logits = split(sample)
    if logits.shape != expected.shape or not torch.allclose(logits, expected, 1e-4, 1e-5):
        raise InputError(
            f"{name!r} is not the last layer: the module's output is not that layer's output; "
            "name the layer whose output is the logits, or drop what follows it"
        )
