"""Any method as a pair: independent models, same batches, the mean of their softmaxes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.methods.base import MakeNet, Method
from crowdwise.methods.options import Options


class Ensemble(Method):
    """n_models copies of a method, differing in their initial weights."""

    def __init__(
        self, kind: type[Method], make_net: MakeNet, shape: CrowdShape, options: Options
    ) -> None:
        super().__init__(make_net, shape, options)
        self.members = nn.ModuleList(
            kind(make_net, shape, options) for _ in range(options.n_models)
        )
        self.optimizers = [o for member in self._methods() for o in member.optimizers]

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        losses = [member.update(batch) for member in self._methods()]
        return {name: torch.stack([loss[name] for loss in losses]).mean() for name in losses[0]}

    def predict_each(self, x: Tensor) -> Tensor:
        return torch.cat([member.predict_each(x) for member in self._methods()])

    def start(self, data: CrowdData) -> None:
        for member in self._methods():
            member.start(data)

    def start_epoch(self, data: CrowdData, epoch: int) -> None:
        for member in self._methods():
            member.start_epoch(data, epoch)

    def memory(self) -> dict[str, Tensor]:
        return {
            f"{k}.{name}": value
            for k, member in enumerate(self._methods())
            for name, value in member.memory().items()
        }

    def recall(self, memory: dict[str, Tensor]) -> None:
        for k, member in enumerate(self._methods()):
            own = {
                name.split(".", 1)[1]: v for name, v in memory.items() if name.startswith(f"{k}.")
            }
            member.recall(own)

    def counts(self) -> dict[str, Tensor]:
        each = [member.counts() for member in self._methods()]
        return {name: torch.stack([counts[name] for counts in each]).sum() for name in each[0]}

    def confusions(self) -> Tensor | None:
        each = [member.confusions() for member in self._methods()]
        known = [confusion for confusion in each if confusion is not None]
        return torch.stack(known).mean(dim=0) if known else None

    def groups(self) -> Tensor | None:
        return self._methods()[0].groups()

    def _methods(self) -> list[Method]:
        return [member for member in self.members if isinstance(member, Method)]
