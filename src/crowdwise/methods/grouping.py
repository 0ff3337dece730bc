"""Annotator groups: k-means on their confusion matrices."""

import warnings

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor


def group_annotators(T: Tensor, labelled: Tensor, n_groups: int, seed: int) -> Tensor:
    """g(r), (R,): which of n_groups an annotator is in, by k-means on the flattened T (R, C, C).

    Centres come from annotators with labels; the others join the nearest. As many groups as
    labelled annotators means a group for each.

    Example:
        >>> T = torch.tensor([[[0.0]], [[9.0]], [[0.1]]])
        >>> g = group_annotators(T, torch.tensor([True, True, True]), 2, seed=0)
        >>> bool(g[0] == g[2]), bool(g[0] == g[1])
        (True, False)
    """
    flat = T.detach().flatten(1).cpu().numpy().astype(np.float64)
    known = labelled.cpu().numpy()
    if n_groups >= known.sum():
        groups = np.zeros(len(flat), dtype=np.int64)
        groups[known] = np.arange(known.sum())
        return torch.as_tensor(groups, device=T.device)
    with warnings.catch_warnings():
        # annotators nobody has told apart yet (equal matrices) are fewer clusters than asked for
        warnings.simplefilter("ignore", ConvergenceWarning)
        means = KMeans(n_groups, random_state=seed).fit(flat[known])
    return torch.as_tensor(means.predict(flat).astype(np.int64), device=T.device)
