"""A service that trains all day: after dozens of trainings, a process holds what it held before."""

import os
import subprocess
import sys

import pytest

from tests.robustness.soak import Held, grown


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_dozens_of_trainings_in_one_process() -> None:
    """`make soak` runs a thousand."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.robustness.soak", "--fits", "60"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_growth_is_seen() -> None:
    still = [Held(100 + n % 3, 5, 7) for n in range(10)]
    assert grown(still) == Held(0, 0, 0)
    assert grown([Held(100 + 2 * n, 5, 7) for n in range(10)]).memory > 6
    assert grown([*still[:9], Held(100, 6, 7)]) == Held(0, 1, 0)
    assert grown([*still[:9], Held(100, 5, 9)]) == Held(0, 0, 2)
