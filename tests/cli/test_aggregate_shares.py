"""`torchrun -m crowdwise aggregate`: one answer from several processes, and one sentence."""

import json
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdwise import simulate
from crowdwise.cli.main import run
from tests.engine import processes

TRUTH = np.random.default_rng(0).integers(0, 10, 2000)

MEETING = """
import sys
from crowdwise.cli.main import run
from crowdwise.engine import together
meet = together.Together.__init__
def say(job):
    meet(job)
    print("met", flush=True)
together.Together.__init__ = say
run(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shares")
    simulate.crowd(TRUTH, "IND-I", k=3, seed=1).to_frame().write_csv(folder / "crowd.csv")
    truth = pl.DataFrame({"item": np.arange(len(TRUTH)), "label": TRUTH})
    truth.write_csv(folder / "truth.csv")
    return folder / "crowd.csv"


def command(table: Path, *more: str) -> list[str]:
    return ["-m", "crowdwise", "aggregate", str(table), *more]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_processes_write_what_one_writes(
    table: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    truth, folder = str(table.parent / "truth.csv"), table.parent / ending
    read = pl.read_csv if ending == "csv" else pl.read_parquet
    said = []
    for size in (1, 2):
        to = [str(folder / f"{name}-{size}.{ending}") for name in ("items", "annotators")]
        given = ["--out", to[0], "--annotators-out", to[1], "--truth", truth, "--json"]
        if size == 1:
            with pytest.raises(SystemExit) as ended:
                run(command(table, *given)[2:])
            assert ended.value.code == 0
            said.append(json.loads(capsys.readouterr().out))
        else:
            ended_all = processes.run(command(table, *given), size)
            assert [code for code, _, _ in ended_all] == [0, 0], ended_all
            assert ended_all[1][1] == ""
            said.append(json.loads(ended_all[0][1]))
    one, two = said
    assert one["objective"] == pytest.approx(two["objective"], rel=1e-9)
    for name in ("labels", "items", "classes", "steps", "consensus", "accuracy"):
        assert one[name] == pytest.approx(two[name])
    for name in ("items", "annotators"):
        left, right = (read(folder / f"{name}-{size}.{ending}") for size in (1, 2))
        assert left.columns == right.columns
        for column in left.columns:
            if left[column].dtype.is_float():
                np.testing.assert_allclose(left[column], right[column], atol=1e-6)
            else:
                assert left[column].equals(right[column])
    assert len(list(folder.iterdir())) == 4  # no share is left behind


@pytest.mark.slow
def test_a_mistake_is_told_once_and_ends_every_process(table: Path) -> None:
    ended = processes.run(command(table, "--label", "no such"), 2)
    assert [code for code, _, _ in ended] == [2, 2]
    assert "no such" in ended[0][2]
    assert "Traceback" not in ended[0][2] + ended[1][2]
    assert ended[1][2] == ""


@pytest.mark.slow
def test_a_process_that_dies_ends_the_job_with_a_sentence(table: Path) -> None:
    forever = ["--set", "tolerance=-1", "--set", "max_iterations=100000000"]
    first, second = processes.start(["-c", MEETING, *command(table, *forever)[2:]], 2)
    assert first.stdout is not None
    assert first.stdout.readline() == "met\n"
    second.kill()
    killed = time.monotonic()
    _, said = first.communicate(timeout=60)
    second.communicate()
    assert time.monotonic() - killed < 60
    assert first.returncode == 2
    assert "another process of this job has ended" in said
    assert "Traceback" not in said
