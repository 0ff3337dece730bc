"""k-means of several point sets at once: k-means++ with greedy trials, then Lloyd's iterations.

scikit-learn's KMeans does the same for one set; its checks and calls cost more than the arithmetic
on a few hundred annotators, every epoch and for every model.
"""

from math import log

import torch
from torch import Tensor


def kmeans(x: Tensor, n_groups: int, n_iterations: int = 300, tolerance: float = 1e-4) -> Tensor:
    """Centres (K, G, D) of K sets of points x (K, N, D), each of which is grouped by itself.

    Stops when no centre moves by more than `tolerance` times the points' mean variance (squared
    distances, summed over a set's centres). A centre nobody is nearest to stays where it is.

    Example:
        >>> x = torch.tensor([[[0.0], [9.0], [0.2]]])
        >>> [round(c, 1) for c in sorted(kmeans(x, 2).flatten().tolist())]
        [0.1, 9.0]
    """
    K, N, D = x.shape
    centres = _spread_out(x, n_groups)
    enough = tolerance * x.var(dim=1, correction=0).mean(dim=1)  # (K,)
    first = torch.arange(K, device=x.device)[:, None] * n_groups
    ones = x.new_ones(K * N)
    for _ in range(n_iterations):
        group = (nearest(x, centres) + first).flatten()
        sums = x.new_zeros(K * n_groups, D).index_add_(0, group, x.flatten(0, 1))
        counts = x.new_zeros(K * n_groups).index_add_(0, group, ones)[:, None]
        means = torch.where(counts > 0, sums / counts, centres.flatten(0, 1)).view_as(centres)
        moved = (means - centres).square().sum(dim=(1, 2))
        centres = means
        if bool((moved <= enough).all()):
            break
    return centres


def nearest(x: Tensor, centres: Tensor) -> Tensor:
    """Number of the centre (K, G, D) that each point (K, N, D) is nearest to, (K, N).

    Example:
        >>> nearest(torch.tensor([[[0.0], [9.0]]]), torch.tensor([[[8.0], [1.0]]])).tolist()
        [[1, 0]]
    """
    # |x - c|² without |x|², which is the same for every centre
    half = torch.baddbmm(centres.square().sum(dim=2)[:, None], x, centres.mT, alpha=-2)
    return half.argmin(dim=2)


def _spread_out(x: Tensor, n_groups: int) -> Tensor:
    """Greedy k-means++: of a few points drawn by squared distance, the one that lowers most."""
    K, N, _ = x.shape
    trials = 2 + int(log(n_groups))
    length = x.square().sum(dim=2)[:, None]  # (K, 1, N)
    model = torch.arange(K, device=x.device)[:, None]
    chosen = torch.randint(N, (K, 1), device=x.device)
    centres = [x[model, chosen]]  # (K, 1, D)
    closest = _squared_distances(centres[0], x, length)  # (K, 1, N)
    for _ in range(1, n_groups):
        heap = closest[:, 0].cumsum(dim=1)
        drawn = torch.rand(K, trials, dtype=x.dtype, device=x.device) * heap[:, -1:]
        candidates = torch.searchsorted(heap, drawn).clamp_max(N - 1)
        points = x[model, candidates]  # (K, trials, D)
        closer = torch.minimum(closest, _squared_distances(points, x, length))
        best = closer.sum(dim=2).argmin(dim=1, keepdim=True)
        closest, point = closer[model, best], points[model, best]
        centres.append(point)
    return torch.cat(centres, dim=1)


def _squared_distances(points: Tensor, x: Tensor, length: Tensor) -> Tensor:
    """(K, P, N) between points (K, P, D) and x (K, N, D)."""
    cross = torch.baddbmm(length, points, x.mT, alpha=-2)
    return (cross + points.square().sum(dim=2, keepdim=True)).clamp_min_(0)
