"""`crowdwise predict`: the run's word on new items, in every form, and what it refuses."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdwise
from crowdwise import CrowdClassifier
from crowdwise.cli.main import run

RNG = np.random.default_rng(0)
TRUE = np.tile(["cat", "=dog"], 20)
X = (np.where(TRUE == "cat", -2, 2)[:, None] + RNG.normal(size=(40, 3))).astype(np.float32)
NEW = np.array([[-2, -2, -2], [2, 2, 2]], dtype=np.float32)

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def predict(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Run the command in a folder that holds the run `run`."""
    monkeypatch.chdir(tmp_path)
    crowd = pl.DataFrame({"item": np.arange(40), "worker": ["ann"] * 40, "label": TRUE})
    CrowdClassifier("crowd-layer", "linear", epochs=20, lr=0.05).fit(X, crowd).save("run")

    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            run(["predict", *map(str, arguments)])
        said = capsys.readouterr()
        return int(stopped.value.code or 0), said.out, said.err

    return command


def test_items_keep_their_names_and_cells_are_no_formulas(predict: Command) -> None:
    pl.DataFrame({"a": NEW[:, 0], "id": ["007", "=x"], "b": NEW[:, 1], "c": NEW[:, 2]}).write_csv(
        "new.csv"
    )
    code, out, err = predict("run", "new.csv")
    assert (code, err) == (0, "")
    header, *rows = out.splitlines()
    assert header.split(",") == ["item", "label", "probability", "p_=dog", "p_cat"]
    assert [row.split(",")[:2] for row in rows] == [["007", "cat"], ["'=x", "'=dog"]]


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_what_is_written_is_what_the_classifier_says(predict: Command, ending: str) -> None:
    np.save("new.npy", NEW)
    code, out, err = predict("run", "new.npy", "--out", f"p.{ending}")
    assert (code, out, err) == (0, "", f"wrote p.{ending}: 2 items\n")
    wanted = crowdwise.load("run").predict_proba(NEW)
    if ending == "npy":
        np.testing.assert_array_equal(np.load("p.npy"), wanted)
        return
    table = pl.read_csv("p.csv") if ending == "csv" else pl.read_parquet("p.parquet")
    np.testing.assert_allclose(table[:, 3:].to_numpy(), wanted)
    np.testing.assert_allclose(table["probability"], wanted.max(axis=1))
    assert table["item"].to_list() == [0, 1]


def test_ids_from_a_file_and_no_rows_at_all(predict: Command) -> None:
    np.save("new.npy", NEW)
    Path("ids.txt").write_text("one\ntwo\n")
    _, out, _ = predict("run", "new.npy", "--items", "ids.txt")
    assert [line.split(",")[0] for line in out.splitlines()] == ["item", "one", "two"]
    np.save("none.npy", NEW[:0])
    code, out, _ = predict("run", "none.npy")
    assert (code, len(out.splitlines())) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent", "new.npy"], "absent"),
        (["run", "absent.npy"], "absent.npy: cannot be read"),
        (
            ["run", "wide.npy"],
            "wide.npy: rows of X have shape (5,), those of the tr",
        ),
        (["run", "nan.npy"], "nan.npy: row 1 of X holds NaN or infinity"),
        (["run", "new.npy", "--out", "p.txt"], "end it in .csv, .parquet or .npy"),
        (["run", "new.npy", "--embed", "tfidf"], "not on texts"),
        (["run", "."], "is a folder; run was trained on items of 3 numbers"),
    ],
)
def test_a_fault_is_one_sentence(predict: Command, arguments: list[str], said: str) -> None:
    np.save("new.npy", NEW)
    np.save("wide.npy", np.zeros((2, 5)))
    np.save("nan.npy", np.array([[1, 2, 3], [1, np.nan, 3]]))
    before = sorted(Path().iterdir())
    code, out, err = predict(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert sorted(Path().iterdir()) == before


def test_a_run_folder_never_decides_which_encoder_is_loaded(predict: Command) -> None:
    config = Path("run/config.json")
    config.write_text(config.read_text().replace("{", '{"embed": "someone/elses",', 1))
    Path("t.csv").write_text("item,text\na,hello\n")
    code, _, err = predict("run", "t.csv")
    assert code == 2
    assert "name it with --embed" in err
