"""Precision and seeds."""

import logging
import subprocess
import sys

import numpy as np
import torch

from crowdwise.engine import Split, fit, make_fabric, predict, seeded
from crowdwise.engine.evaluate import accuracies
from tests.engine import small


def trained(name, precision, **options):
    x, y = small.inputs()
    with seeded(0):
        # dropout off: the masks of one precision are not the other's
        method = small.method(name, precision=precision, epochs=8, dropout=0.0, **options)
        history = fit(method, small.data())
    return method, history, accuracies(method, Split.of(x, y))[0]


def test_bf16_is_finite_close_to_fp32_and_not_the_same():
    for name in ("crowd-layer", "ccc"):
        full, fine, right = trained(name, "fp32")
        half, coarse, right_half = trained(name, "bf16")
        losses = np.array([[epoch["loss"] for epoch in h] for h in (fine, coarse)])
        assert np.isfinite(losses).all()
        np.testing.assert_allclose(losses[1], losses[0], rtol=0.05)
        assert (losses[0] != losses[1]).any()
        assert abs(right - right_half) < 0.05
        x = Split.of(*small.inputs()).x
        assert predict(half, x).dtype == predict(full, x).dtype == torch.float32
        assert all(p.dtype == torch.float32 for p in half.parameters())


def test_bf16_announces_nothing():
    script = "from crowdwise.engine import make_fabric; make_fabric('bf16', 'cpu')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_logger_is_left_as_it_was():
    make_fabric("fp32", "cpu")
    logger = logging.getLogger("lightning_fabric")
    level = logger.level
    make_fabric("bf16", "cpu")
    assert logger.level == level


def test_a_seed_leaves_the_callers_stream_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    with seeded(7):
        torch.rand(5)
    assert torch.equal(torch.get_rng_state(), before)
