"""How a method's step is compared with its definition, written out label by label."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.methods.base import Method
from tests.methods.toys import build, crowd, features, float64

Definition = Callable[[Any, CrowdBatch], Tensor]


def labels_of(batch: CrowdBatch) -> Iterator[tuple[int, int, int]]:
    """(row, annotator, label) of every observed label."""
    return zip(batch.row.tolist(), batch.annotator.tolist(), batch.label.tolist(), strict=True)


def softmax(logits: Tensor) -> Tensor:
    """Of one vector, as the school book has it."""
    return torch.exp(logits) / torch.exp(logits).sum()


def check_update(name: str, definition: Definition, items: int = 11, **options: Any) -> Method:
    """The loss and the gradient of every parameter in one update are the definition's.

    The parameters are shaken first, so that nothing is checked at a special starting point.
    """
    with float64():
        data = CrowdData(features(), crowd(silent=(2,), alone=name == "true-labels"))
        method = build(name, data.shape, **options)
        method.start(data)
        with torch.no_grad():
            for value in method.parameters():
                value += 0.3 * torch.randn_like(value)
        batch = next(data.epoch(torch.randperm(len(data))[:items], items))
        state = torch.get_rng_state()
        slow = definition(method, batch)
        parameters = dict(method.named_parameters())
        gradients = torch.autograd.grad(slow, list(parameters.values()), allow_unused=True)
        torch.set_rng_state(state)
        fast = method.update(batch)["loss"]
        torch.testing.assert_close(fast, slow.detach(), rtol=1e-10, atol=1e-12)
        for (key, value), gradient in zip(parameters.items(), gradients, strict=True):
            assert gradient is not None, f"the definition does not know {key}"
            assert value.grad is not None, key
            torch.testing.assert_close(value.grad, gradient, rtol=1e-8, atol=1e-12)
        return method
