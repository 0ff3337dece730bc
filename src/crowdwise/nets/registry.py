"""Networks by name."""

import inspect
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from crowdwise.errors import InputError
from crowdwise.nets.cnn import cnn
from crowdwise.nets.mlp import fc128, linear, mlp, music_net
from crowdwise.nets.net import Net
from crowdwise.nets.resnet import resnet18, resnet34

FOR_VECTORS: dict[str, Callable[..., Net]] = {
    "linear": linear,
    "mlp": mlp,
    "fc128": fc128,
    "music": music_net,
}
FOR_IMAGES: dict[str, Callable[..., Net]] = {
    "cnn": cnn,
    "resnet18": resnet18,
    "resnet34": resnet34,
}


def names() -> list[str]:
    """What `make` knows, "auto" first."""
    return ["auto", *FOR_VECTORS, *FOR_IMAGES]


def make(name: str, input_shape: Sequence[int], n_classes: int, **options: Any) -> Net:
    """A network by name for inputs of one shape, without the batch axis.

    Args:
        name: "auto" (a CNN for images, an MLP otherwise) or one of `names()`.
        input_shape: (features,) or (channels, height, width); the nets for vectors flatten.
        n_classes: length of the logits.
        options: what the network's own function takes, such as `hidden` or `dropout`.

    Example:
        >>> make("auto", (64,), 10, hidden=(32,)).head
        Linear(in_features=32, out_features=10, bias=True)
    """
    shape = tuple(int(size) for size in input_shape)
    if name == "auto":
        name = "cnn" if len(shape) == 3 else "mlp"
    if name not in FOR_VECTORS and name not in FOR_IMAGES:
        raise InputError(f"no net is named {name!r}; choose among {', '.join(names())}")
    if not shape or min(shape) < 1:
        raise InputError(f"net {name!r}: inputs of shape {shape} hold nothing to learn from")
    if name in FOR_IMAGES and len(shape) != 3:
        raise InputError(
            f"net {name!r} takes images (channels, height, width), not inputs of shape {shape}; "
            "reshape them, or take 'mlp'"
        )
    build = FOR_IMAGES.get(name) or FOR_VECTORS[name]
    _check_options(name, build, options)
    return build(shape if name in FOR_IMAGES else prod(shape), n_classes, **options)


def _check_options(name: str, build: Callable[..., Net], options: dict[str, Any]) -> None:
    known = list(inspect.signature(build).parameters)[2:]
    for option in options:
        if option not in known:
            takes = f"its options: {', '.join(known)}" if known else "it has no options"
            raise InputError(f"net {name!r} has no option {option!r}; {takes}")
    dropout = options.get("dropout", 0.0)
    if not 0 <= dropout < 1:
        raise InputError(f"net {name!r}: dropout is a share from 0 to below 1, not {dropout}")
