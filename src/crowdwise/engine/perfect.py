"""Any method together with a perfect annotator: someone who is known to be always right."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import nll_loss

from crowdwise.batches import CrowdBatch, CrowdData
from crowdwise.methods.base import Method

EPS = 1e-5  # added to the probability of a label before the logarithm, as in the crowd's loss


class Perfect(Method):
    """A method that also learns from labels which are certain.

    The loss of a label is that of any annotator, with the confusion known instead of learned:

        -log Σ_c p_i(c) T[c, y] = -log p_i(y)        as T is the identity

    So every model of the method takes a step down its own cross entropy, by its own optimiser.
    Each certain label comes once an epoch, like the crowd's, in batches of about the same size,
    spread evenly over the crowd's. The perfect annotator is none of the method's: she has no
    confusion to learn and no group.

    Args:
        inner: freshly built.
        certain: (N,) classes of the training set's items, -1 where nothing is certain.
    """

    def __init__(self, inner: Method, certain: Tensor) -> None:
        super().__init__(lambda: None, inner.shape, inner.options)  # type: ignore[arg-type, return-value]
        self.inner = inner
        self.optimizers = inner.optimizers
        self.certain = certain
        self.known = (certain >= 0).nonzero()[:, 0]  # (M,)
        self.order = self.known
        self.done = self.batch = 0  # of this epoch: labels learned, batches of the crowd seen
        self.data: CrowdData | None = None

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        losses = self.inner.update(batch)
        self.batch += 1
        due = len(self.order) * self.batch // self.batches
        full = due - self.done >= min(len(self.order), self.options.batch_size)
        if due > self.done and (full or self.batch == self.batches):
            self._learn(self.order[self.done : due])
            self.done = due
        return losses

    def _learn(self, item: Tensor) -> None:
        assert self.data is not None
        with self.ranks.cut(len(item)) as part:
            own = item[part]
            each = self.predict_each(self.data.x(own))  # (n_models, B, C)
            label = self.certain[own]
            loss = torch.stack([nll_loss(torch.log(p + EPS), label) for p in each]).sum()
            for optimizer in self.optimizers:
                optimizer.zero_grad()
            self.ranks.weighted(loss, len(own)).backward()  # type: ignore[no-untyped-call]
            used = [p for p in self.inner.parameters() if p.grad is not None]
            sums = self.ranks.sums([p.grad for p in used if p.grad is not None])
            for parameter, gradient in zip(used, sums, strict=True):
                parameter.grad = gradient
        for optimizer in self.optimizers:
            optimizer.step()

    def predict_each(self, x: Tensor) -> Tensor:
        return self.inner.predict_each(x)

    def start(self, data: CrowdData) -> None:
        self.data = data
        self.batches = -(-len(data.labelled) // self.options.batch_size)
        self.certain, self.known = self.certain.to(data.device), self.known.to(data.device)
        self.inner.start(data)

    def start_epoch(self, data: CrowdData, epoch: int) -> None:
        self.inner.start_epoch(data, epoch)
        self.order = self.known[torch.randperm(len(self.known)).to(data.device)]
        self.done = self.batch = 0

    def memory(self) -> dict[str, Tensor]:
        place = torch.tensor([self.done, self.batch])
        inner = {f"inner.{name}": value for name, value in self.inner.memory().items()}
        return {"order": self.order, "place": place, **inner}

    def recall(self, memory: dict[str, Tensor]) -> None:
        self.order = memory["order"]
        self.done, self.batch = (int(value) for value in memory["place"])
        below = "inner."
        inner = {n.removeprefix(below): v for n, v in memory.items() if n.startswith(below)}
        self.inner.recall(inner)

    def counts(self) -> dict[str, Tensor]:
        return self.inner.counts()

    def confusions(self) -> Tensor | None:
        return self.inner.confusions()

    def groups(self) -> Tensor | None:
        return self.inner.groups()
