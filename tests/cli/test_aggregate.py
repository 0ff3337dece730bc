"""`crowdwise aggregate` as people type it."""

import io
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import crowdwise
from crowdwise.cli.main import app
from crowdwise.errors import InputError
from tests.aggregate.twins import crowd


def aggregate(*arguments, stdin=None):
    return CliRunner().invoke(
        app, ["aggregate", *map(str, arguments)], input=stdin, catch_exceptions=False
    )


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    annotations, _, _ = crowd(0, n_items=60, n_annotators=12, per_item=4, skill=(0.6, 0.9))
    annotations.to_frame().write_csv(path)
    return path


@pytest.fixture
def truth(tmp_path):
    path = tmp_path / "truth.csv"
    _, true, _ = crowd(0, n_items=60, n_annotators=12, per_item=4, skill=(0.6, 0.9))
    names = [f"c{code}" for code in true]
    pl.DataFrame({"item": range(60), "label": names}).head(50).write_csv(path)
    return path


def test_the_command_of_the_issue(labels, tmp_path):
    out, who = tmp_path / "consensus.csv", tmp_path / "annotators.csv"
    done = aggregate(labels, "--method", "dawid-skene", "--out", out, "--annotators-out", who)
    assert done.exit_code == 0
    assert "240 labels on 60 items by 12 annotators, 3 classes" in done.stdout
    assert "dawid-skene: converged after" in done.stdout
    assert "… 2 more …" in done.stdout
    expected = crowdwise.aggregate(crowdwise.read_annotations(labels))
    frame = pl.read_csv(out)
    assert frame["label"].to_list() == expected.labels.tolist()
    np.testing.assert_allclose(frame.select("p_c0", "p_c1", "p_c2").to_numpy(), expected.proba)
    assert pl.read_csv(who)["labels"].sum() == 240


def test_it_composes_with_pipes(labels):
    done = aggregate("-", "--out", "-", stdin=labels.read_text())
    assert pl.read_csv(io.StringIO(done.stdout)).height == 60
    assert "240 labels" in done.stderr


def test_json_where_a_machine_reads(labels, truth):
    done = aggregate(labels, "--truth", truth, "--json", "--method", "one-coin")
    summary = json.loads(done.stdout)
    assert (summary["method"], summary["items_with_truth"]) == ("one-coin", 50)
    assert 0.6 < summary["accuracy"] <= 1
    assert len(summary["objective"]) == summary["steps"]
    assert sum(summary["consensus"].values()) == 60


def test_all_methods_beside_each_other(labels, truth):
    shown = aggregate(labels, "--method", "all", "--truth", truth).stdout
    assert "50 items with truth" in shown
    assert all(method in shown for method in crowdwise.aggregate.METHODS)
    found = json.loads(aggregate(labels, "--method", "all", "--truth", truth, "--json").stdout)
    assert list(found["methods"]) == list(crowdwise.aggregate.METHODS)


def test_options_of_the_method(labels, tmp_path):
    out = tmp_path / "c.parquet"
    given = ["--set", "smoothing=2", "--set", "n_groups=3", "--method", "grouped-dawid-skene"]
    assert aggregate(labels, *given, "--out", out).exit_code == 0
    crowd = crowdwise.read_annotations(labels)
    expected = crowdwise.aggregate(crowd, "grouped-dawid-skene", smoothing=2, n_groups=3)
    assert pl.read_parquet(out).equals(expected.to_frame())
    lowest = aggregate(labels, "--method", "majority", "--set", "ties=lowest", "--json")
    assert json.loads(lowest.stdout)["steps"] == 1


def test_columns_are_named_as_inspect_names_them(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("who,what,said\nann,x,yes\nann,x,no\nbob,x,no\nbob,y,yes\n")
    done = aggregate(
        path, "--item", "what", "--annotator", "who", "--label", "said",
        "--on-conflict", "last", "--json",
    )  # fmt: skip
    assert json.loads(done.stdout)["labels"] == 3


def test_what_spreadsheets_would_run_is_quoted(tmp_path):
    path, who = tmp_path / "evil.csv", tmp_path / "who.csv"
    path.write_text(
        "item,annotator,label\n=cmd(),@x,yes\n=cmd(),[red]b,no\nj,@x,yes\nj,[red]b,no\n"
    )
    done = aggregate(path, "--out", "-", "--annotators-out", who)
    assert done.stdout.splitlines()[1].startswith("'=cmd(),")
    assert pl.read_csv(who)["annotator"].to_list() == ["'@x", "[red]b"]
    assert "[red]b" in done.stderr  # shown as written, not as rich's markup


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "magic"], "'magic' is unknown"),
        (["--method", "all"], "give --truth"),
        (["--out", "c.xlsx"], "end it in .csv or .parquet"),
        (["--annotators-out", "-"], "to a file only"),
        (["--out", "-", "--json"], "choose one"),
        (["--set", "smoothing"], "NAME=VALUE"),
        (["--set", "smoothing=x"], "a number from 0"),
        (["--set", "smoothing=1", "--set", "smoothing=2"], "give it once"),
        (["--set", "colour=1"], "no option 'colour'"),
        (["--format-option", "path=x"], "given elsewhere"),
    ],
)
def test_bad_requests_end_in_one_sentence(labels, arguments, said):
    with pytest.raises(InputError, match=said):
        aggregate(labels, *arguments)


def test_exit_code_two_without_traceback(labels):
    done = subprocess.run(
        [sys.executable, "-m", "crowdwise", "aggregate", labels, "--method", "magic"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("crowdwise: method 'magic' is unknown")
    assert "Traceback" not in done.stderr


def test_a_terminal_without_unicode(labels, tmp_path):
    out = tmp_path / "c.csv"
    done = subprocess.run(
        [sys.executable, "-m", "crowdwise", "aggregate", labels, "--out", out],
        capture_output=True,
        timeout=60,
        check=False,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert out.exists()
