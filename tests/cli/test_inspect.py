"""`crowdwise inspect` from the outside: what it prints, writes and refuses."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdwise.cli.main import run

TABLE = "item,annotator,label\n1,ann,cat\n1,bo,cat\n2,ann,dog\n2,bo,cat\n3,ann,dog\n"
TRUTH = "item,truth\n1,cat\n2,cat\n3,cat\n"

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def crowdwise(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command: (exit code, standard output, standard error)."""

    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return int(stopped.value.code or 0), said.out, said.err

    return command


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "crowd.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "truth.csv"
    path.write_text(TRUTH)
    return path


def test_the_summary_is_readable(crowdwise: Command, table: Path, truth: Path):
    code, out, err = crowdwise("inspect", table, "--truth", truth)
    assert (code, err) == (0, "")
    assert "3 items, 2 annotators, 5 labels, 2 classes" in out
    assert "33.33% of these items" in out
    assert "40.00% of these labels" in out


def test_a_terminal_without_unicode_is_served_too(tmp_path: Path):
    table = tmp_path / "crowd.csv"
    table.write_text("item,annotator,label\n1,ann,café\n2,bo,tea\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "crowdwise", "inspect", table],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"caf?" in done.stdout
    assert b"####" in done.stdout


def test_json_is_one_object_with_the_same_numbers(crowdwise: Command, table: Path, truth: Path):
    code, out, err = crowdwise("inspect", table, "--truth", truth, "--json")
    summary = json.loads(out)
    assert (code, err) == (0, "")
    assert (summary["items"], summary["annotators"], summary["labels"]) == (3, 2, 5)
    assert summary["truth"]["nr1"] == pytest.approx(1 / 3)
    assert summary["truth"]["nr2"] == pytest.approx(2 / 5)
    assert summary["repeats_dropped"] == 0


def test_json_without_truth_has_no_noise(crowdwise: Command, table: Path):
    _, out, _ = crowdwise("inspect", table, "--json")
    assert "truth" not in json.loads(out)


def test_figures_are_written_and_named(
    crowdwise: Command, table: Path, truth: Path, tmp_path: Path
):
    folder = tmp_path / "figures"
    code, out, _ = crowdwise("inspect", table, "--truth", truth, "--figures", folder, "--json")
    names = {path.name for path in folder.iterdir()}
    assert code == 0
    assert names == {
        f"{name}.{kind}"
        for name in ("labels-per-annotator", "annotator-distances")
        for kind in ("png", "svg")
    }
    assert {Path(path).name for path in json.loads(out)["figures"]} == names


def test_without_truth_only_the_histogram_is_drawn(crowdwise: Command, table: Path, tmp_path: Path):
    code, out, _ = crowdwise("inspect", table, "--figures", tmp_path / "figures")
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "labels-per-annotator.png",
        "labels-per-annotator.svg",
    ]
    assert f"wrote {tmp_path / 'figures' / 'labels-per-annotator.png'}\n" in out


def test_columns_can_be_named(crowdwise: Command, tmp_path: Path):
    table, truth = tmp_path / "odd.csv", tmp_path / "odd-truth.csv"
    table.write_text("picture,person,verdict\n1,ann,cat\n2,ann,dog\n")
    truth.write_text("frame,is\n1,cat\n2,cat\n")
    columns = ("--item", "picture", "--annotator", "person", "--label", "verdict")
    known = ("--truth", truth, "--truth-item", "frame", "--truth-label", "is")
    code, out, err = crowdwise("inspect", table, *columns, *known, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["truth"]["nr2"] == 0.5


def test_classes_can_be_named_in_order_though_nobody_used_them(crowdwise: Command, tmp_path: Path):
    table, truth = tmp_path / "t.csv", tmp_path / "truth.csv"
    table.write_text("item,user,label\n1,ann,no\n2,ann,yes\n")
    truth.write_text("item,truth\n1,maybe\n2,yes\n")
    asked = (table, "--truth", truth, "--json")
    code, _, said = crowdwise("inspect", *asked)
    assert (code, "--classes" in said) == (2, True)
    code, out, _ = crowdwise("inspect", *asked, "--classes", "yes, maybe,no")
    summary = json.loads(out)
    assert code == 0
    assert [row["class"] for row in summary["class_balance"]] == ["yes", "maybe", "no"]
    assert summary["truth"]["nr1"] == 0.5


def test_repeats_are_counted_and_contradictions_stop(crowdwise: Command, tmp_path: Path):
    table = tmp_path / "twice.csv"
    table.write_text(TABLE + "1,ann,cat\n")
    _, out, _ = crowdwise("inspect", table, "--json")
    assert json.loads(out)["repeats_dropped"] == 1
    assert json.loads(out)["labels"] == 5

    table.write_text(TABLE + "1,ann,dog\n")
    code, out, err = crowdwise("inspect", table)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "ann" in err

    code, out, _ = crowdwise("inspect", table, "--on-conflict", "last", "--json")
    balance = {entry["class"]: entry["labels"] for entry in json.loads(out)["class_balance"]}
    assert (code, balance) == (0, {"cat": 2, "dog": 3})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["absent.csv"], "absent.csv"),
        (["crowd.csv", "--truth", "absent.csv"], "absent.csv"),
        (["crowd.csv", "--truth", "elsewhere.csv"], "elsewhere.csv"),
        (["crowd.csv", "--label", "verdict"], "verdict"),
        (["-", "--truth", "-"], "name a file for one"),
        (["crowd.csv", "--classes", "cat, cow"], "crowd.csv, line 4: the label dog"),
        (["crowd.csv", "--format", "papyrus"], "papyrus"),
        (["crowd.csv", "--on-conflict", "shrug"], "shrug"),
        (["crowd.csv", "--figures", "crowd.csv"], "crowd.csv"),
        (["crowd.csv", "--format-option", "from_name"], "NAME=VALUE"),
        (["crowd.csv", "--format-option", "classes=2"], "classes=2"),
        (["crowd.csv", "--format-option", "colour=red"], "colour"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_2(
    crowdwise: Command,
    table: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
):
    monkeypatch.chdir(table.parent)
    Path("elsewhere.csv").write_text("item,truth\n77,cat\n")
    code, out, err = crowdwise("inspect", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert "Traceback" not in err


def test_a_format_and_its_options_reach_the_reader(crowdwise: Command, tmp_path: Path):
    def answer(question: str, choice: str) -> dict:
        return {"from_name": question, "type": "choices", "value": {"choices": [choice]}}

    export = tmp_path / "export.json"
    tasks = [
        {
            "id": task,
            "annotations": [
                {"completed_by": who, "result": [answer("animal", animal), answer("mood", "glad")]}
                for who, animal in ((1, "cat"), (2, "dog"))
            ],
        }
        for task in (7, 8)
    ]
    export.write_text(json.dumps(tasks))
    code, _, err = crowdwise("inspect", export)
    assert code == 2
    assert "from_name" in err
    options = ("--format", "label-studio", "--format-option", "from_name=animal")
    code, out, err = crowdwise(
        "inspect", export, *options, "--format-option", "predictions=true", "--json"
    )
    assert (code, err) == (0, "")
    assert [entry["class"] for entry in json.loads(out)["class_balance"]] == ["cat", "dog"]


def test_a_failed_figure_prints_no_half_summary(crowdwise: Command, table: Path, tmp_path: Path):
    truth = tmp_path / "one.csv"
    truth.write_text("item,truth\n3,cat\n")  # only ann labelled item 3: no two annotators
    code, out, err = crowdwise("inspect", table, "--truth", truth, "--figures", tmp_path / "f")
    assert (code, out) == (2, "")
    assert "distances between annotators cannot be drawn" in err
    assert not (tmp_path / "f").exists()
