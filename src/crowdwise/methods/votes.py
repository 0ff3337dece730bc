"""Counts of votes that first guesses are made of, on the data's own device."""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from crowdwise.batches import CrowdData
from crowdwise.functional.crowd import scatter


def vote_counts(data: CrowdData) -> Tensor:
    """How often each class was given to each item, (N, C)."""
    C = data.shape.n_classes
    counts = torch.bincount(_item_of_label(data) * C + data.label, minlength=len(data) * C)
    return counts.reshape(len(data), C).to(torch.get_default_dtype())


def vote_shares(data: CrowdData) -> Tensor:
    """Q_i(p): the share of item i's labels that say p, (N, C); zero for an item without labels."""
    counts = vote_counts(data)
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)


def majority(data: CrowdData, seed: int | None) -> Tensor:
    """Indicator of each item's majority label, (N, C); a tie falls to the lowest class without a
    seed, with one to any of the tied, each as likely; zero for an item without labels."""
    counts = vote_counts(data)
    most = counts.amax(dim=1, keepdim=True)
    tied = ((counts == most) & (counts > 0)).to(counts)
    if seed is not None:
        draw = torch.rand(counts.shape, generator=torch.Generator().manual_seed(seed))
        tied *= 1 + draw.to(tied)
    return one_hot(tied.argmax(dim=1), counts.shape[1]) * (most > 0)


def expected_votes(data: CrowdData) -> Tensor:
    """N_r(p, q) = Σ_{i: y_i^r = q} Q_i(p), (R, C, C): how often r says q where the crowd says p."""
    _, R, C = data.shape
    shares = vote_shares(data)[_item_of_label(data)]
    return scatter(shares, data.annotator * C + data.label, R * C).reshape(R, C, C).mT


def _item_of_label(data: CrowdData) -> Tensor:
    return torch.arange(len(data), device=data.device).repeat_interleave(data.offsets.diff())
