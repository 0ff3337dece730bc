"""SIGKILL at random moments: what is resumed ends in the bytes of a run that nobody touched."""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.robustness.zygote import Zygote, zygote

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork are POSIX"),
]
N, R, KILLS = 96, 8, 20
FIT = (
    *("fit", "labels.csv", "--features", "x.npy", "--method", "ccc", "--net", "mlp"),
    *("--epochs", 4, "--set", "warmup_epochs=2", "--set", "batch_size=16", "--set", "n_groups=3"),
    *("--set", "selection=validation", "--checkpoint-minutes", 0),  # after every batch
)
WALL_CLOCK = {"times.jsonl", "report.html"}  # the report says how long it took


@pytest.fixture(scope="module")
def at_work(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    np.save(folder / "x.npy", (2 * np.eye(3, 8)[y] + rng.normal(size=(N, 8))).astype(np.float32))
    rows = [
        f"{i},{r},{y[i] if rng.random() < 0.7 else rng.integers(0, 3)}"
        for i in range(N)
        for r in rng.choice(R, 4, replace=False)
    ]
    (folder / "labels.csv").write_text("\n".join(["item,annotator,label", *rows]) + "\n")
    with zygote(folder) as commands:
        yield folder, commands


def end_of(commands: Zygote, folder: Path, *arguments: object) -> tuple[int, float]:
    began = time.monotonic()
    commands.start(*arguments)
    code = commands.wait()
    return code, time.monotonic() - began


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_fit_killed_at_twenty_random_moments(at_work) -> None:
    folder, commands = at_work
    code, seconds = end_of(commands, folder, *FIT, "--out", "whole")
    assert code == 0, (folder / "errors.txt").read_text()
    wanted = contents(folder / "whole")
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
            assert code == -signal.SIGKILL, (folder / "errors.txt").read_text()
            killed, resumed = killed + 1, resumed + 1
            seen.add(phase(out))
        assert code == 0
        found = contents(out)
        assert set(found) == set(wanted)
        different = [n for n in found if n not in WALL_CLOCK and found[n] != wanted[n]]
        assert different == [], (runs, resumed)
        lines = (out / "metrics.jsonl").read_text().splitlines()
        epochs = [json.loads(line)["epoch"] for line in lines]
        assert epochs == [1, 2, 3, 4]
        assert len((out / "times.jsonl").read_text().splitlines()) == 4
    assert len(seen) > 3, seen  # the moments were different ones
    assert (folder / "errors.txt").read_text().count("Traceback") == 0


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
    folder, commands = at_work
    name = "tests.robustness.test_kill:two_cells"
    code, seconds = end_of(commands, folder, name, "whole.jsonl")
    assert code == 0, (folder / "errors.txt").read_text()
    rng, ledger = np.random.default_rng(3), folder / "cells" / "cells.jsonl"
    inside = 0
    for _ in range(5):
        number = commands.start(name, ledger)
        wait_for_states(folder / "cells", int(rng.integers(1, 8)), folder / "never", 2 * seconds)
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
        commands.wait()
        inside += any((ledger.parent / "checkpoints").glob("*/state.safetensors"))
    assert inside > 0
    assert end_of(commands, folder, name, ledger)[0] == 0, (folder / "errors.txt").read_text()
    assert lines_of(ledger) == lines_of(folder / "whole.jsonl")
    assert [path.name for path in ledger.parent.iterdir()] == ["cells.jsonl"]


def lines_of(ledger: Path) -> list[dict]:
    """Finished cells without the time they took."""
    return [json.loads(line) | {"seconds": 0} for line in ledger.read_text().splitlines()]
