"""Annotator groups: k-means on their confusion matrices."""

import torch
from torch import Tensor

from crowdwise.functional.kmeans import kmeans, nearest


def group_annotators(T: Tensor, labelled: Tensor, n_groups: int) -> Tensor:
    """g(r) of K models, (K, R): which of n_groups an annotator is in, by k-means on T (K, R, C, C).

    Centres come from annotators with labels; the others join the nearest. As many groups as
    labelled annotators means a group for each.

    Example:
        >>> T = torch.tensor([[[[0.0]], [[9.0]], [[0.1]]]])
        >>> (g,) = group_annotators(T, torch.tensor([True, True, True]), 2)
        >>> bool(g[0] == g[2]), bool(g[0] == g[1])
        (True, False)
    """
    known = labelled.nonzero()[:, 0]
    if n_groups >= len(known):
        groups = torch.zeros(T.shape[:2], dtype=torch.int64, device=T.device)
        groups[:, known] = torch.arange(len(known), device=T.device)
        return groups
    flat = T.detach().flatten(2).double()
    return nearest(flat, kmeans(flat[:, known], n_groups))
