"""`crowdwise reproduce` as people type it, on digits and a simulated crowd."""

import csv
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from crowdwise.cli.main import app
from crowdwise.errors import InputError
from crowdwise.reproduce.settings import SETTINGS

SMALL = ("--datasets", "digits", "--methods", "major-vote,ccc", "--seeds", 2)


@pytest.fixture(autouse=True)
def short_training(monkeypatch):
    setting = SETTINGS["digits"]
    short = replace(
        setting,
        options={**setting.options, "epochs": 2, "batch_size": 512},
        ccc={**setting.ccc, "warmup_epochs": 1},
    )
    monkeypatch.setitem(SETTINGS, "digits", short)


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], catch_exceptions=False)


def test_from_nothing_to_tables_and_on_from_there(tmp_path):
    out, page = tmp_path / "run", tmp_path / "docs" / "results.md"
    done = reproduce("real", *SMALL, "--out", out, "--page", page)
    assert done.exit_code == 0
    assert "MajorVote" in done.stdout
    assert "pair, oracle" in done.stdout
    lines = (out / "cells.jsonl").read_text()
    assert lines.count("\n") == 4
    table = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [(row["method"], row["seeds"]) for row in table] == [("MajorVote", "2"), ("CCC", "2")]
    text = page.read_text()
    assert text.replace("(results.png)", "(table.png)") == (out / "table.md").read_text()
    assert (
        "    crowdwise reproduce real --datasets digits --methods major-vote,ccc --seeds 2" in text
    )
    for part in ("Machine: ", " cores", "torch ", "seeds: 2 (0, 1)", "no such data set"):
        assert part in text
    again = reproduce("real", *SMALL, "--out", out)
    assert again.stdout == done.stdout
    assert (out / "cells.jsonl").read_text() == lines


def test_list_runs_nothing_and_merge_takes_over(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    listed = reproduce("real", *SMALL, "--out", first, "--list")
    assert listed.stdout.splitlines()[0] == "missing  digits, major-vote, seed 0"
    assert len(listed.stdout.splitlines()) == 4
    assert not first.exists()
    reproduce("real", *SMALL[:-1], 1, "--out", first)
    done = reproduce("real", *SMALL, "--out", second, "--merge", first / "cells.jsonl")
    assert "took over 2 finished runs" in done.stderr
    kept = (second / "cells.jsonl").read_text()
    assert kept.startswith((first / "cells.jsonl").read_text())
    listed = reproduce("real", *SMALL, "--out", second, "--list")
    assert listed.stdout.count("done") == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("unreal",), "no suite 'unreal'"),
        (("real", "--jobs", 0), "--jobs is 0"),
        (("real", "--datasets", "mnist"), "no setting"),
    ],
)
def test_mistakes_are_one_sentence(arguments, message, tmp_path):
    with pytest.raises(InputError, match=message):
        reproduce(*arguments, "--out", tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_says_what_is_done_and_where(tmp_path, jobs):
    out = tmp_path / "run"
    # tests that run in the background have Ctrl-C ignored, and would hand that down
    heeding = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('crowdwise', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-c", heeding, "reproduce", "real", "--datasets", "digits"]
    running = subprocess.Popen(
        [*command, "--seeds", "50", "--jobs", str(jobs), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    ledger = out / "cells.jsonl"
    while running.poll() is None and not (ledger.exists() and ledger.stat().st_size):
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal's Ctrl-C: to the workers as well
    stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 130
    assert stdout == ""
    finished = ledger.read_text().count("\n")
    assert f"interrupted: {finished} runs are done and in {ledger}" in stderr
    assert f"{400 - finished} are left" in stderr
    assert "Traceback" not in stderr
