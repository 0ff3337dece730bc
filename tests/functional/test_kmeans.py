"""k-means against its definition and beside scikit-learn's."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from crowdwise.functional.kmeans import kmeans, nearest


def points(seed: int, K: int = 2, N: int = 60, D: int = 5, clumps: int = 6) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    centres = 3 * torch.randn(K, clumps, D, generator=g, dtype=torch.float64)
    which = torch.randint(clumps, (K, N), generator=g)
    noise = torch.randn(K, N, D, generator=g, dtype=torch.float64)
    return torch.stack([c[w] for c, w in zip(centres, which, strict=True)]) + noise


def inertia(x: Tensor, centres: Tensor) -> float:
    return float(torch.cdist(x, centres).square().amin(dim=1).sum())


@pytest.mark.parametrize("seed", range(5))
def test_nearest_is_the_smallest_distance(seed: int) -> None:
    x = points(seed)
    centres = points(seed + 100, N=7)
    expected = torch.cdist(x, centres).argmin(dim=2)
    assert torch.equal(nearest(x, centres), expected)


@pytest.mark.parametrize("seed", range(5))
def test_every_centre_is_the_mean_of_the_points_nearest_to_it(seed: int) -> None:
    torch.manual_seed(seed)
    x = points(seed)
    centres = kmeans(x, 6, tolerance=0.0)
    group = nearest(x, centres)
    for k in range(len(x)):
        for g in range(6):
            torch.testing.assert_close(centres[k, g], x[k, group[k] == g].mean(dim=0))


def test_as_good_as_scikit_learn() -> None:
    """The sum of squares that is left, over many starts: the same mean within its spread."""
    ours, theirs = [], []
    for seed in range(40):
        x = points(seed, K=1, clumps=9)
        torch.manual_seed(seed)
        ours.append(inertia(x[0], kmeans(x, 9)[0]))
        theirs.append(KMeans(9, random_state=seed).fit(x[0].numpy()).inertia_)
    difference = np.array(ours) / np.array(theirs) - 1
    assert abs(difference.mean()) < 3 * difference.std() / len(difference) ** 0.5 + 0.005


def test_sets_are_grouped_each_by_itself() -> None:
    x = points(1)
    far = torch.stack([x[0], x[1] + 1000])
    torch.manual_seed(0)
    one = kmeans(x, 4)
    torch.manual_seed(0)
    other = kmeans(far, 4)
    torch.testing.assert_close(other[0], one[0])
    torch.testing.assert_close(other[1], one[1] + 1000, rtol=1e-9, atol=1e-6)


def test_equal_points_are_one_group() -> None:
    x = torch.ones(2, 8, 3, dtype=torch.float64)
    centres = kmeans(x, 3)
    torch.testing.assert_close(centres, torch.ones_like(centres))
    assert len(nearest(x, centres).unique()) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert len(set(KMeans(3, random_state=0).fit(x[0].numpy()).labels_)) == 1
