"""Annotator groups: k-means on their confusion matrices."""

import torch
from torch import Tensor

from crowdwise.functional.kmeans import kmeans, nearest

AT_MOST = 256  # annotators per group that centres are computed from
CHUNK = 2**14  # annotators assigned at once


def group_annotators(T: Tensor, labelled: Tensor, n_groups: int) -> Tensor:
    """g(r) of K models, (K, R): which of n_groups an annotator is in, by k-means on T (K, R, C, C).

    Centres come from annotators with labels, no more than 256 drawn for each; the others join the
    nearest. As many groups as labelled annotators means a group for each.

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
    if len(known) > AT_MOST * n_groups:
        known = known[torch.randperm(len(known))[: AT_MOST * n_groups].to(known.device)]
    flat = T.detach().flatten(2)
    centres = kmeans(flat[:, known].double(), n_groups)
    if len(known) == flat.shape[1]:
        return nearest(flat.double(), centres)
    return torch.cat(
        [nearest(part.double(), centres) for part in torch.split(flat, CHUNK, dim=1)], dim=1
    )
