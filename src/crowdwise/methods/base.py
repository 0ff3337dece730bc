"""The contract: a method is `update(batch) -> losses` plus `predict(x)`; a loop knows no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from crowdwise.batches import ALONE, CrowdBatch, CrowdData, CrowdShape, Ranks
from crowdwise.methods.options import Options
from crowdwise.nets.net import Net

MakeNet = Callable[[], Net]


class Method(nn.Module, ABC):
    """A way to learn from a crowd, with its own optimisers.

    Subclasses build their parameters and `self.optimizers` in `__init__`, from a `make_net` that
    gives a freshly initialised classifier at every call, so that save and load need no data.
    What depends on the data (votes, first confusions) is set, in place, in `start`.
    """

    options_type: ClassVar[type[Options]] = Options
    pairs_itself: ClassVar[bool] = False  # True: the method builds its n_models models itself
    ranks: Ranks = ALONE  # the processes that share every batch; the loop says who they are

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: Options) -> None:
        super().__init__()
        self.shape = shape
        self.options = options
        self.optimizers: list[Optimizer] = []

    @abstractmethod
    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        """Learn from one batch; returns detached losses by name (scalars on the device).

        Where several processes train, `batch` is this one's share. What is learnt, and the losses
        returned, are the whole batch's: sums go through `ranks`.
        """

    @abstractmethod
    def predict_each(self, x: Tensor) -> Tensor:
        """Class probabilities of every model, (n_models, B, C)."""

    def predict(self, x: Tensor) -> Tensor:
        """Class probabilities (B, C): the mean of the models' softmaxes."""
        return self.predict_each(x).mean(dim=0)

    def start(self, data: CrowdData) -> None:
        """Look at the whole training set, once, before the first epoch."""

    def start_epoch(self, data: CrowdData, epoch: int) -> None:
        """Called before every epoch (counted from 0)."""

    def memory(self) -> dict[str, Tensor]:
        """What the rest of an epoch needs and neither `start` nor the state dict brings back.

        A checkpoint keeps it, with state dict, optimisers and random streams. A training that goes
        on calls `start`, loads those, and hands this to `recall`; then comes the next batch.
        """
        return {}

    def recall(self, memory: dict[str, Tensor]) -> None:
        """The reverse of `memory`."""

    def counts(self) -> dict[str, Tensor]:
        """What went wrong and was passed over, how often since the epoch began, by name."""
        return {}

    def confusions(self) -> Tensor | None:
        """P(label given | true class) of every annotator, (R, C, C) with rows that sum to one."""
        return None

    def groups(self) -> Tensor | None:
        """Which group each annotator is in, (R,), where the method has groups."""
        return None

    def set_rate(self, lr: float) -> None:
        """Set the learning rate of every optimiser."""
        for optimizer in self.optimizers:
            for parameters in optimizer.param_groups:
                parameters["lr"] = lr


def make_optimizer(options: Options, parameters: Iterable[nn.Parameter]) -> Optimizer:
    """The optimiser the options name, in its fused form."""
    lr, decay, given = options.lr, options.weight_decay, list(parameters)
    match options.optimizer:
        case "sgd":
            return SGD(given, lr, options.momentum, weight_decay=decay, fused=True)
        case "adam":
            return Adam(given, lr, weight_decay=decay, fused=True)
        case "adamw":
            return AdamW(given, lr, weight_decay=decay, fused=True)


def step(
    optimizer: Optimizer, loss: Tensor, ranks: Ranks = ALONE, of: int | Tensor | None = 1
) -> Tensor:
    """One optimiser step down the gradient of `loss`; returns the loss, detached.

    Args:
        of: how many things of this process's share the loss is the mean of; the step goes down
            the mean over the things of all processes, and that mean is returned. None: the loss
            is a part already, and the step goes down the parts' sum.
    """
    optimizer.zero_grad()
    loss = loss if of is None else ranks.weighted(loss, of)
    loss.backward()  # type: ignore[no-untyped-call]
    loss = sum_gradients(optimizer, loss.detach(), ranks)
    optimizer.step()
    return loss


def sum_gradients(optimizer: Optimizer, loss: Tensor, ranks: Ranks) -> Tensor:
    """Make every gradient the sum of all processes'; returns the sum of their losses."""
    if ranks.size == 1:
        return loss
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    used = [p for p in parameters if p.grad is not None]
    loss, *sums = ranks.sums([loss, *(p.grad for p in used)])
    for parameter, gradient in zip(used, sums, strict=True):
        parameter.grad = gradient
    return loss


def probabilities(net: Net, x: Tensor) -> Tensor:
    """softmax of one net's logits, (1, B, C): what most methods predict."""
    z: Tensor = net(x)
    return torch.softmax(z, dim=1)[None]
