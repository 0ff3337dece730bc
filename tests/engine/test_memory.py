"""What is freed is kept for the next tensor."""

import subprocess
import sys

import pytest

FAULTS = """
import resource, torch
from crowdwise.engine.memory import keep_freed_memory
if {keep}:
    keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    torch.ones(2**23)  # 32 MiB
before = faults()
for _ in range(10):
    torch.ones(2**23)
print(faults() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="speaks to glibc")
def test_memory_is_handed_back_once_not_every_time() -> None:
    """Every page handed back and asked for again is a page fault."""
    kept, back = (
        int(
            subprocess.run(
                [sys.executable, "-c", FAULTS.format(keep=keep)],
                capture_output=True, text=True, check=True,
            ).stdout
        )
        for keep in (True, False)
    )  # fmt: skip
    assert kept < 100
    assert back == 0 or kept < back / 10
