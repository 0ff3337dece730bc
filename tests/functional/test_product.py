"""Products by oneDNN against double precision; tests/nets/test_linear.py has derivatives."""

import pytest
import torch

from crowdwise.functional.product import LARGE, product

B, D, H = 128, 512, 128  # as large as oneDNN asks
assert B * D * H >= LARGE


def close(a, b):
    assert a.shape == b.shape
    assert (a - b).abs().max() <= 1e-5 * b.abs().max()


@pytest.mark.parametrize("layout", ["rows", "columns", "expanded", "sliced"])
def test_any_layout_of_the_factors(layout):
    a = {
        "rows": torch.randn(B, D),
        "columns": torch.randn(D, B).T,
        "expanded": torch.randn(1, D).expand(B, D),
        "sliced": torch.randn(B, 2 * D)[:, ::2],
    }[layout]
    b = torch.randn(D, H)
    close(product(a, b), (a.double() @ b.double()).float())


def test_double_precision_stays_exact():
    a, b = torch.randn(B, D).double(), torch.randn(D, H).double()
    assert torch.equal(product(a, b), a @ b)
