"""Majority vote: the crowd's most frequent label, taken for the truth.

loss = -(1/B) Σ_i Σ_c y_ic log p_i[c],   y_i the majority label as an indicator, or the vote shares.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch, CrowdData, CrowdShape
from crowdwise.methods.base import MakeNet, Method, make_optimizer, probabilities, step
from crowdwise.methods.options import Options
from crowdwise.methods.votes import majority, vote_shares


@dataclass(frozen=True, kw_only=True)
class MajorVoteOptions(Options):
    """What happens where several labels are equally frequent."""

    # random: one of the tied, drawn once from the seed; lowest: the first of them in the order
    # of the classes; soft: no vote at all, the target is the share of each label
    ties: Literal["random", "lowest", "soft"] = "random"


class MajorVote(Method):
    """A classifier p trained on one target per item."""

    options: MajorVoteOptions
    options_type = MajorVoteOptions

    def __init__(self, make_net: MakeNet, shape: CrowdShape, options: MajorVoteOptions) -> None:
        super().__init__(make_net, shape, options)
        self.net = make_net()
        self.target = torch.empty(0)  # (N, C), from the data at start
        self.optimizers = [make_optimizer(options, self.parameters())]

    def start(self, data: CrowdData) -> None:
        match self.options.ties:
            case "soft":
                self.target = vote_shares(data)
            case "lowest":
                self.target = majority(data, seed=None)
            case "random":
                self.target = majority(data, seed=self.options.seed)

    def update(self, batch: CrowdBatch) -> dict[str, Tensor]:
        log_p = torch.log_softmax(self.net(batch.x), dim=1)
        target = self.target[batch.item]
        # an item without labels has a target of zeros and counts for nothing
        loss = -(target * log_p).sum() / target.sum()
        return {"loss": step(self.optimizers[0], loss, self.ranks, target.sum())}

    def predict_each(self, x: Tensor) -> Tensor:
        return probabilities(self.net, x)
