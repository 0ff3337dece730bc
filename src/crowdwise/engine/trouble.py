"""Training that goes wrong: what happened, at which step, and what to try."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from crowdwise.batches import CrowdData
from crowdwise.engine.losses import BadLoss
from crowdwise.engine.state import State
from crowdwise.errors import InputError
from crowdwise.methods.base import Method

FAR = 1000.0  # times the loss of the first batch: no training comes back from there
TRY = "try a lower lr, or standardise the features"


class Diverged(InputError):
    """Training that no longer learns: to go on from its last state leads nowhere."""


def not_finite(
    bad: BadLoss, method: Method, data: CrowdData, order: Tensor, epoch: int
) -> Diverged:
    """A loss that is NaN or infinite: because of an item's features, or of the rate."""
    where = f"epoch {epoch + 1}, batch {bad.batch + 1}"
    size = method.options.batch_size
    items = order[bad.batch * size :][:size]
    broken = ~data.x(items).flatten(1).isfinite().all(dim=1)
    if broken.any():
        item = data.annotations.item_ids[int(items[broken][0])]
        return Diverged(
            f"{where}: the features of item {item} hold NaN or infinity; fill them in or drop the "
            "item"
        )
    rate = method.options.rate(epoch)
    return Diverged(
        f"{where}: the training {bad.name} is {bad.value}; the rate {rate:g} is too high for "
        f"these features: {TRY}"
    )


def refuse_divergence(state: State, losses: Mapping[str, float], method: Method) -> None:
    """Stop where the losses of an epoch are far from where training began, or a weight is lost."""
    for name, loss in losses.items():
        first = state.first.get(name, loss)
        if loss > FAR * (1 + abs(first)):
            raise Diverged(
                f"epoch {state.epoch + 1}: the training {name} has grown from {first:.3g} to "
                f"{loss:.3g}; training diverges: {TRY}"
            )
    for name, weight in method.state_dict().items():
        if weight.is_floating_point() and not _finite(weight):
            raise Diverged(
                f"epoch {state.epoch + 1}: the weight {name} is no longer finite; training "
                f"diverges: {TRY}"
            )


def agree(method: Method, epoch: int) -> None:
    """Stop where processes that train together hold different weights: sums were left out."""
    ranks = method.ranks
    if ranks.size == 1:
        return
    weights = [w for w in method.state_dict().values() if w.is_floating_point() and w.numel()]
    own = torch.stack([weight.double().abs().mean() for weight in weights])
    if ((ranks.sum(own) / ranks.size - own).abs() > 1e-6 * own).any():
        raise InputError(
            f"epoch {epoch}: the processes hold different weights; the method "
            f"{type(method).__name__} does not sum its gradients over processes: train it on one "
            "device"
        )


def _finite(weight: Tensor) -> bool:
    return not weight.numel() or all(bool(edge.isfinite()) for edge in torch.aminmax(weight))
