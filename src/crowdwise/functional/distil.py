"""The distilled set: for every class the items that a classifier finds easiest to believe."""

import torch
from torch import Tensor


def distil(loss: Tensor, label: Tensor, n_classes: int, size: int) -> Tensor:
    """Numbers of the size / C candidates with the smallest loss, for every class.

    A class with fewer candidates gives all it has. Ties go to the earlier candidate.

    Args:
        loss: (P,) cross entropy of each candidate (item, class).
        label: (P,) the candidate's class.
        n_classes: C.
        size: M, what all classes together give at most.

    Example:
        >>> distil(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0, 0, 1]), 2, 2).tolist()
        [1, 2]
    """
    easiest = loss.argsort(stable=True)
    ordered = easiest[label[easiest].argsort(stable=True)]  # by class, then by loss
    counts = torch.bincount(label, minlength=n_classes)
    start = counts.cumsum(0) - counts
    rank = torch.arange(len(label), device=label.device) - start[label[ordered]]
    return ordered[rank < max(1, size // n_classes)]


def unique_pairs(item: Tensor, label: Tensor, n_classes: int) -> tuple[Tensor, Tensor]:
    """Every (item, class) that somebody gave, once."""
    pairs = torch.unique(item * n_classes + label)
    return pairs // n_classes, pairs % n_classes
