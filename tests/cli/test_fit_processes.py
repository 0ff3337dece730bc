"""`crowdwise fit` on several processes: one run folder, a death that is told, and a way on."""

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file

from tests.engine import processes, small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("processes")
    x, y = small.inputs()
    np.save(made / "x.npy", x)
    small.crowd(y).to_frame().write_csv(made / "crowd.csv")
    return made


def command(folder: Path, out: str, *more: str, epochs: int = 6) -> list[str]:
    given = ["--features", str(folder / "x.npy"), "--out", str(folder / out)]
    options = ["--set", "batch_size=20", "--set", "warmup_epochs=2", "--set", "n_groups=2"]
    start = ["-m", "crowdwise", "fit", str(folder / "crowd.csv")]
    return [*start, *given, "--epochs", str(epochs), *options, *more]


@pytest.mark.slow
def test_devices_start_processes_that_write_one_run(folder: Path) -> None:
    ((code, said, wrong),) = processes.run(command(folder, "two", "--devices", "2"), 1)
    assert code == 0, wrong
    assert said.count("wrote ") == 1
    files = {path.name for path in (folder / "two").iterdir()}
    assert {"done", "model.safetensors", "consensus.parquet", "report.html"} <= files
    assert len(pl.read_ndjson(folder / "two" / "metrics.jsonl")) == 6
    _, y = small.inputs()
    consensus = pl.read_parquet(folder / "two" / "consensus.parquet").sort("item")
    assert (consensus["label"].to_numpy() == y).mean() > 0.9


@pytest.mark.slow
def test_a_process_that_dies_ends_the_job_and_resume_goes_on(folder: Path) -> None:
    whole = processes.run(command(folder, "whole", epochs=40), 2)
    assert [code for code, _, _ in whole] == [0, 0], whole
    cut = command(folder, "cut", "--checkpoint-minutes", "0", epochs=40)
    first, second = processes.start(cut, 2)
    state = folder / "cut" / "checkpoint" / "state.safetensors"
    while not state.is_file():
        assert first.poll() is None, first.communicate()
        time.sleep(0.01)
    second.kill()
    killed = time.monotonic()
    _, said = first.communicate(timeout=60)
    second.communicate()
    assert time.monotonic() - killed < 60
    assert first.returncode == 2
    assert "another process of this job has ended" in said
    assert "Traceback" not in said
    assert not (folder / "cut" / "done").exists()
    after = processes.run([*cut, "--resume"], 2)
    assert [code for code, _, _ in after] == [0, 0], after
    left, right = (load_file(folder / name / "model.safetensors") for name in ("whole", "cut"))
    assert left.keys() == right.keys()
    for name, weight in left.items():
        np.testing.assert_array_equal(weight, right[name])


@pytest.mark.slow
def test_what_is_wrong_is_told_by_the_first_process_alone(folder: Path) -> None:
    ended = processes.run(command(folder, "wrong", "--set", "lr=-1"), 2)
    assert [code for code, _, _ in ended] == [2, 2]
    assert "option lr is -1" in ended[0][2]
    assert ended[1][2] == ""
