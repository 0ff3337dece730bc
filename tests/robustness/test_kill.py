"""SIGKILL at random moments: what is resumed ends in the bytes of a run that nobody touched."""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.robustness.work import FIT, contents, differences

pytestmark = pytest.mark.slow
KILLS = 20


def test_fit_killed_at_twenty_random_moments(at_work) -> None:
    folder, commands, wanted, seconds = at_work
    rng = np.random.default_rng(7)
    killed = runs = 0
    seen = set()
    while killed < KILLS:
        runs += 1
        out, resumed = folder / f"run{runs}", 0
        for _ in range(6):  # the last one is left to end
            number = commands.start(*FIT, "--out", out.name, "--resume")
            if resumed < 5 and killed < KILLS:
                if rng.random() < 0.3:
                    time.sleep(float(rng.uniform(0, seconds)))  # anywhere
                else:
                    wait_for_states(out, int(rng.integers(1, 15)), out / "done", 2 * seconds)
                    time.sleep(float(rng.uniform(0, 0.01)))  # in a batch, or as the state is kept
                with suppress(ProcessLookupError):  # it was faster
                    os.kill(number, signal.SIGKILL)
            code = commands.wait()
            if code == 0:
                break
            assert code == -signal.SIGKILL, at_work.errors()
            killed, resumed = killed + 1, resumed + 1
            seen.add(phase(out))
        assert code == 0
        assert differences(contents(out), wanted) == [], (runs, resumed)
        lines = (out / "metrics.jsonl").read_text().splitlines()
        epochs = [json.loads(line)["epoch"] for line in lines]
        assert epochs == [1, 2, 3, 4]
        assert len((out / "times.jsonl").read_text().splitlines()) == 4
    assert len(seen) > 3, seen  # the moments were different ones
    assert "Traceback" not in at_work.errors()


def wait_for_states(folder: Path, count: int, over: Path, deadline: float) -> None:
    """Until a checkpoint below was written so often, or the file `over` is there."""
    began, last = time.monotonic(), None
    while count and time.monotonic() - began < deadline and not over.exists():
        with suppress(FileNotFoundError, StopIteration):
            file = next(folder.rglob("state.safetensors")).stat()
            now = file.st_ino, file.st_mtime_ns
            count, last = count - (now != last), now
        time.sleep(0.001)


def phase(out: Path) -> str:
    """How far a killed run had come."""
    if not (out / "config.json").exists():
        return "before"
    if not (out / "checkpoint").exists():
        return "begun"
    if (out / "consensus.csv").exists():
        return "writing"
    lines = (out / "metrics.jsonl").read_text() if (out / "metrics.jsonl").exists() else ""
    return f"epoch {lines.count(chr(10))}"


def two_cells(path: str) -> None:
    """What `crowdwise reproduce` does, on cells that take a moment; runs in its own process."""
    from crowdwise.reproduce import cells, ledger

    cells.MINUTES = 0.0
    tiny = {"epochs": 4, "batch_size": 256, "warmup_epochs": 2}
    names = {"ccc": tiny, "crowd-layer": {k: v for k, v in tiny.items() if k != "warmup_epochs"}}
    ledger.run([cells.Cell("digits", m, 0, options) for m, options in names.items()], Path(path))


def test_reproduce_killed_inside_its_cells(at_work) -> None:
    folder, commands = at_work.folder, at_work.commands
    name = "tests.robustness.test_kill:two_cells"
    assert commands.run(name, "whole.jsonl") == 0, at_work.errors()
    rng, ledger = np.random.default_rng(3), folder / "cells" / "cells.jsonl"
    inside = 0
    for _ in range(5):
        number = commands.start(name, ledger)
        wait_for_states(folder / "cells", int(rng.integers(1, 8)), folder / "never", 20)
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
        commands.wait()
        inside += any((ledger.parent / "checkpoints").glob("*/state.safetensors"))
    assert inside > 0
    assert commands.run(name, ledger) == 0, at_work.errors()
    assert lines_of(ledger) == lines_of(folder / "whole.jsonl")
    assert [path.name for path in ledger.parent.iterdir()] == ["cells.jsonl"]


def lines_of(ledger: Path) -> list[dict]:
    """Finished cells without the time they took."""
    return [json.loads(line) | {"seconds": 0} for line in ledger.read_text().splitlines()]
