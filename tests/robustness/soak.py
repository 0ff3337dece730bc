"""Many small trainings in one process: memory, threads and file handles must not grow.

    python -m tests.robustness.soak --fits 1000

Every method in turn is trained with checkpoints, kept, read back and asked. Growth is counted from
the first fifth on, when every library has taken what it keeps.
"""

import gc
import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from crowdwise import CrowdClassifier, load
from crowdwise.engine.checkpoint import Checkpoints
from crowdwise.methods import names
from crowdwise.report.html import write_report

MEMORY = 12.0  # MiB that may come and go with the allocator's mood


class Held(NamedTuple):
    """What this process holds."""

    memory: float  # MiB resident
    threads: int
    files: int

    @classmethod
    def now(cls) -> "Held":
        gc.collect()
        status = Path("/proc/self/status").read_text()
        kib = next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]
        count = [sum(1 for _ in Path(f"/proc/self/{what}").iterdir()) for what in ("task", "fd")]
        return cls(int(kib) / 1024, *count)


def one(number: int, folder: Path) -> None:
    """A training from start to end."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, 3, 48)
    x = (2 * np.eye(3, 6)[y] + rng.normal(size=(48, 6))).astype(np.float32)
    said = np.where(rng.random((48, 5)) < 0.7, y[:, None], rng.integers(0, 3, (48, 5)))
    said[rng.random((48, 5)) < 0.4] = -1
    said[0] = [0, 1, 2, 0, 1]  # every class is named
    kinds = [name for name in names() if name != "true-labels"]
    model = CrowdClassifier(kinds[number % len(kinds)], epochs=2, seed=number, batch_size=16)
    start = model._prepare(x, said, None)
    model._train(start, checkpoints=Checkpoints(folder / "state", minutes=0))
    model.save(folder / "run")
    write_report(folder / "run")
    assert (load(folder / "run").predict(x) == model.predict(x)).all()
    shutil.rmtree(folder / "run")
    shutil.rmtree(folder / "state")


def soak(fits: int) -> list[Held]:
    """What the process held after every tenth of the way."""
    held = []
    with TemporaryDirectory() as folder:
        for number in range(fits):
            one(number, Path(folder))
            if (number + 1) % max(fits // 10, 1) == 0:
                held.append(Held.now())
                print(f"{number + 1:5} fits: {held[-1]}", file=sys.stderr, flush=True)
    return held


def grown(held: list[Held]) -> Held:
    """From the first fifth to the end; of memory, between the lowest of the halves."""
    rest = held[1:]
    middle = len(rest) // 2
    early, late = rest[:middle], rest[middle:]
    return Held(
        min(h.memory for h in late) - min(h.memory for h in early),
        max(h.threads for h in late) - early[0].threads,
        max(h.files for h in late) - early[0].files,
    )


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    growth = grown(soak(parser.parse_args().fits))
    print(f"grown: {growth}")
    if growth.memory > MEMORY or growth.threads > 0 or growth.files > 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
