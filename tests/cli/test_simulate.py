"""`crowdwise simulate` as people type it."""

import io
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from crowdwise.cli.main import app
from crowdwise.errors import InputError
from crowdwise.simulate import crowd


def simulate(*arguments, stdin=None):
    return CliRunner().invoke(
        app, ["simulate", *map(str, arguments)], input=stdin, catch_exceptions=False
    )


@pytest.fixture
def truth(tmp_path):
    path = tmp_path / "labels.csv"
    pl.DataFrame({"item": range(100, 400), "label": [i % 10 for i in range(300)]}).write_csv(path)
    return path


def test_the_command_of_the_issue(truth, tmp_path):
    out = tmp_path / "crowd.csv"
    done = simulate("--truth", truth, "--case", "IND-I", "-k", 3, "--seed", 0, "--out", out)
    assert done.exit_code == 0
    assert "900 labels on 300 items by 250 annotators" in done.stderr
    frame = pl.read_csv(out)
    expected = crowd(np.arange(300) % 10, "IND-I", k=3, seed=0)
    assert frame["item"].to_list() == (expected.item + 100).tolist()
    assert frame["annotator"].to_list() == expected.annotator.tolist()
    assert frame["label"].to_list() == expected.label.tolist()


def test_it_composes_with_pipes(truth):
    done = simulate("--truth", "-", "--out", "-", "--json", stdin=truth.read_text())
    frame = pl.read_csv(io.StringIO(done.stdout))
    assert frame.shape == (900, 3)
    assert json.loads(done.stderr)["labels"] == 900


def test_json_where_a_machine_reads(truth, tmp_path):
    out = tmp_path / "c.parquet"
    summary = json.loads(simulate("--truth", truth, "--out", out, "--json").stdout)
    frame = pl.read_parquet(out)
    wrong = frame["label"] != (frame["item"] - 100) % 10
    assert summary["nr2"] == pytest.approx(wrong.mean())
    assert (summary["case"], summary["k"], summary["annotators"]) == ("IND-I", 3, 250)


def test_a_truth_is_made_up_and_kept(tmp_path):
    kept, out, who = (tmp_path / name for name in ("t.csv", "c.csv", "who.csv"))
    made_up = ("--items", 200, "--classes", 10, "--truth-out", kept, "--annotators-out", who)
    assert simulate(*made_up, "--case", "COR-I", "--out", out).exit_code == 0
    again = tmp_path / "again.csv"
    assert simulate("--truth", kept, "--case", "COR-I", "--out", again).exit_code == 0
    assert again.read_bytes() == out.read_bytes()
    assert pl.read_csv(who)["pattern"].n_unique() == 5


def test_options_reach_the_crowd(tmp_path):
    labels, vectors, out = (tmp_path / name for name in ("y.npy", "x.npy", "c.csv"))
    y, x = np.arange(100) % 4, np.random.default_rng(0).normal(size=(100, 3))
    np.save(labels, y)
    np.save(vectors, x)
    options = ("--per-pattern", 5, "--beta", 2, 2, "--difficulty", 0.3, "--features", vectors)
    simulate("--truth", labels, "--case", "sym-0.1 pair-0.2", "--out", out, *options)
    expected = crowd(
        y, "sym-0.1 pair-0.2", n_per_pattern=5, beta=(2, 2), difficulty=0.3, features=x
    )
    np.testing.assert_array_equal(pl.read_csv(out)["label"].to_numpy(), expected.label)
    simulate("--truth", labels, "--case", "dummy", "--tail", "heavy", "--out", out)
    expected = crowd(y, "dummy", tail="heavy")
    np.testing.assert_array_equal(pl.read_csv(out)["annotator"].to_numpy(), expected.annotator)


def test_dropped_classes_are_said_aloud(tmp_path):
    done = simulate("--items", 50, "--classes", 4, "--out", tmp_path / "c.csv")
    assert "note: case IND-I: the truth has 4 classes" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give either --truth"),
        (("--truth", "t.csv", "--items", 3), "give either --truth"),
        (("--items", 3), "--items needs --classes"),
        (("--items", 0, "--classes", 3), "at least one item"),
        (("--items", 3, "--classes", 3, "--seed", -1), "negative"),
        (("--truth", "absent.csv"), "absent.csv"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, arguments, message):
    with pytest.raises(InputError, match=message):
        simulate(*arguments, "--out", tmp_path / "c.csv")
    assert not (tmp_path / "c.csv").exists()


def test_bad_input_ends_with_exit_code_two(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "crowdwise", "simulate", "--truth", "absent.csv", "--out", "x.csv"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("crowdwise: absent.csv: cannot be read")
    assert "Traceback" not in done.stderr
