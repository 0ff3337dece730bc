"""`crowdwise fit` from files to a run folder, and every way it says no."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

import crowdwise
from crowdwise.cli.main import run

RNG = np.random.default_rng(0)
NAMES = [f"photo {i:02}" for i in range(30)]
TRUE = np.tile(["cat", "dog"], 15)
X = np.where(TRUE == "cat", -1.5, 1.5)[:, None] + RNG.normal(size=(30, 3)) * 0.5
SAID = [
    (NAMES[i], who, TRUE[i] if RNG.random() < skill else "dog")
    for i in range(2, 30)  # nobody labelled the first two
    for who, skill in (("ann", 1.0), ("=bob()", 0.8), ("cy", 0.5))
]
QUICK = ("--net", "linear", "--epochs", "3", "--set", "lr=0.05")

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def fit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Run the command in a folder with labels.csv: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    pl.DataFrame(SAID, schema=["item", "annotator", "label"], orient="row").write_csv("labels.csv")
    table(X).write_csv("x.csv")

    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            run(["fit", *map(str, arguments)])
        said = capsys.readouterr()
        return int(stopped.value.code or 0), said.out, said.err

    return command


def table(x: np.ndarray) -> pl.DataFrame:
    """The features of every item, rows in another order than the items'."""
    columns = {"a": x[:, 0], "task": NAMES, "b": x[:, 1], "c": x[:, 2]}
    return pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=1)


def csv(path: Path) -> None:
    table(X).write_csv(path)


def parquet(path: Path) -> None:
    table(X).write_parquet(path)


def npz(path: Path) -> None:
    np.savez(path, x=X.astype(np.float32), items=NAMES)


def npy(path: Path) -> None:
    np.save(path, X)
    Path("items.txt").write_text("\n".join(NAMES))


@pytest.mark.parametrize("write", [csv, parquet, npz, npy])
def test_every_form_of_features_leads_to_a_run(fit: Command, write: Callable) -> None:
    features = Path(f"features.{write.__name__}")
    write(features)
    items = ("--items", "items.txt") if write is npy else ()
    options = (*items, "--net", "linear", "--epochs", 30, "--set", "lr=0.05")
    code, out, err = fit("labels.csv", "--features", features, "--out", "run", *options)
    assert (code, err) == (0, "")
    assert re.search(r"epochs +30 +given", out)
    assert "on 28 items of 30; the others get predictions" in out
    assert "net" in out
    assert "30 items" in out
    assert "wrote run" in out
    loaded = crowdwise.load("run")
    by_item = dict(loaded.consensus_.select("item", "label").rows())
    assert sorted(by_item) == NAMES
    assert np.mean([by_item[name] == true for name, true in zip(NAMES, TRUE, strict=True)]) > 0.9
    assert (loaded.predict(X) == TRUE).mean() > 0.9
    assert len(loaded.history_) == 30


def test_what_a_run_folder_holds(fit: Command) -> None:
    Path("truth.csv").write_text(
        "item,label\n" + "".join(f"{n},{t}\n" for n, t in zip(NAMES, TRUE, strict=True))
    )
    code, out, _ = fit(
        *("labels.csv", "--features", "x.csv", "--out", "run", "--truth", "truth.csv"),
        *("--method", "ccc", "--seed", 3, "--set", "n_groups=2", *QUICK),
    )
    assert code == 0
    for who in ("consensus", "classifier"):
        assert re.search(rf"{who} right on \d+ of 30 items", out)
    assert re.search(r"crowd right on \d+ of 28 items, by itself", out)
    assert "=bob()" in out
    assert sorted(path.name for path in Path("run").iterdir()) == [
        *("annotators.csv", "annotators.parquet", "config.json", "consensus.csv"),
        *("consensus.parquet", "done", "labels.parquet", "metrics.jsonl"),
        *("model.safetensors", "report.html", "times.jsonl"),
    ]
    settings = json.loads(Path("run/config.json").read_text())["settings"]
    assert (settings["n_groups"], settings["seed"], settings["lr"]) == (2, 3, 0.05)
    consensus = pl.read_csv("run/consensus.csv")
    about = ["item", "label", "probability", "votes", "agreement"]
    about += ["classifier", "classifier_probability", "crowd", "decided_by"]
    assert consensus.columns == [*about, "p_cat", "p_dog"]
    assert consensus.equals(pl.read_parquet("run/consensus.parquet"))
    np.testing.assert_allclose(consensus["p_cat"] + consensus["p_dog"], 1)
    assert set(pl.read_csv("run/annotators.csv")["annotator"]) == {"ann", "'=bob()", "cy"}
    annotators = pl.read_parquet("run/annotators.parquet")
    assert set(annotators["annotator"]) == {"ann", "=bob()", "cy"}
    assert "photo 07" in Path("run/report.html").read_text(encoding="utf-8")


def test_the_same_command_gives_the_same_bytes(fit: Command) -> None:
    for out in ("one", "two"):
        assert fit("labels.csv", "--features", "x.csv", "--out", out, *QUICK)[0] == 0
    for name in ("model.safetensors", "config.json", "consensus.csv", "annotators.parquet"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()


def test_rows_are_counted_where_items_are_numbers(fit: Command) -> None:
    rows = [(NAMES.index(item), who, label) for item, who, label in SAID]
    pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row").write_csv("numbers.csv")
    np.save("x.npy", X)
    code, _, err = fit("numbers.csv", "--features", "x.npy", "--out", "run", *QUICK)
    assert (code, err) == (0, "")
    assert crowdwise.load("run").consensus_["item"].to_list() == list(range(30))
    code, _, err = fit("labels.csv", "--features", "x.npy", "--out", "other", *QUICK)
    assert code == 2
    assert "--items" in err


def test_metrics_for_tensorboard(fit: Command) -> None:
    code, _, _ = fit(
        "labels.csv", "--features", "x.csv", "--out", "run", "--tensorboard", "tb", *QUICK
    )
    assert code == 0
    assert any(Path("tb").iterdir())


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        ({}, ["--features", "absent.npy"], "absent.npy: cannot be read"),
        ({}, ["absent.csv"], "absent.csv"),
        ({}, ["--label", "verdict"], "verdict"),
        ({}, ["--method", "magic"], "no method 'magic'"),
        ({}, ["--net", "magic"], "no net is named 'magic'"),
        ({}, ["--net", "cnn"], "takes images"),
        ({}, ["--epochs", "0"], "epochs"),
        ({}, ["--set", "colour=red"], "no option 'colour'"),
        ({}, ["--set", "n_groups=0"], "n_groups"),
        ({}, ["--set", "lr"], "NAME=VALUE"),
        ({}, ["--set", "epochs=4"], "epochs is given elsewhere"),
        ({}, ["--method", "true-labels"], "exactly one annotator"),
        ({}, ["--truth", "absent.csv"], "absent.csv"),
        ({}, ["--items", "labels.csv"], "leave --items out"),
        ({}, ["--checkpoint-minutes", "nan"], "minutes between checkpoints are nan"),
        ({}, ["--checkpoint-epochs", "0"], "epochs between checkpoints are 0"),
        ({}, ["--out", "labels.csv"], "is a file"),
        ({}, ["--out", "."], "is not empty and holds no run"),
        ({"task": pl.lit("photo 07")}, [], "photo 07 has more than one row"),
        ({"task": "other " + pl.col("task")}, [], "was labelled, but no row of features"),
        ({"b": pl.lit("high")}, [], "column 'b' holds String"),
        ({"b": pl.lit(None)}, [], "column 'b'"),
        (
            {"b": pl.when(pl.col("task") == "photo 04").then(float("nan")).otherwise("b")},
            [],
            "item photo 04: its features",
        ),
        (
            {"b": pl.when(pl.col("task") == "photo 04").then(float("inf")).otherwise("b")},
            [],
            "item photo 04: its features",
        ),
        ({"b": pl.lit(1e300)}, [], "NaN or infinity"),
        ({name: pl.lit(2.5) for name in "abc"}, [], "every item has the same features"),
    ],
)
def test_a_fault_is_one_sentence_and_leaves_no_run(
    fit: Command, change: dict, arguments: list[str], said: str
) -> None:
    table(X).with_columns(**change).write_csv("x.csv")
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    labels = arguments if len(arguments) == 1 else ["labels.csv"]
    options = {"--features": "x.csv", "--out": "run", **(given if len(arguments) > 1 else {})}
    code, out, err = fit(*labels, *(text for pair in options.items() for text in pair))
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("crowdwise: ")
    assert len(err.splitlines()) == 1
    assert not Path("run").exists()


def test_a_ragged_table(fit: Command) -> None:
    Path("x.csv").write_text("item,a,b\n" + "".join(f"{name},1,2,3\n" for name in NAMES))
    code, _, err = fit("labels.csv", "--features", "x.csv", "--out", "run")
    assert code == 2
    assert "x.csv: cannot be read as features" in err
    assert len(err.splitlines()) == 1


def test_a_finished_run_is_left_as_it_is(fit: Command) -> None:
    command = ("labels.csv", "--features", "x.csv", "--out", "run", *QUICK)
    assert fit(*command)[0] == 0
    before = {path: path.read_bytes() for path in Path("run").iterdir()}
    code, _, err = fit(*command, "--seed", "1")
    assert code == 2
    assert "holds a finished run" in err
    assert before == {path: path.read_bytes() for path in Path("run").iterdir()}


def test_an_interrupted_run_starts_anew(fit: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from crowdwise.results.run import Run

    log = Run.log

    def log_then_interrupt(self: Run, record: dict) -> None:
        log(self, record)
        if record["epoch"] == 2:
            raise KeyboardInterrupt

    command = ("labels.csv", "--features", "x.csv", "--out", "run", *QUICK)
    with monkeypatch.context() as patched:
        patched.setattr(Run, "log", log_then_interrupt)
        code, _, err = fit(*command)
    assert code == 130
    assert "interrupted after 2 epochs" in err
    assert not Path("run/done").exists()
    with pytest.raises(crowdwise.InputError, match="not finished"):
        crowdwise.load("run")
    assert fit(*command)[0] == 0
    assert [record["epoch"] for record in crowdwise.load("run").history_] == [1, 2, 3]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_keeps_the_state_and_resume_ends_in_the_same_bytes(
    fit: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from crowdwise.results.run import Run

    log = Run.log

    def log_then_signal(self: Run, record: dict) -> None:
        log(self, record)
        if record["epoch"] == 2:
            signal.raise_signal(signal.Signals[name])

    command = ("labels.csv", "--features", "x.csv", "--out", "run", *QUICK)
    assert fit(*command[: -len(QUICK) - 1], "whole", *QUICK)[0] == 0
    with monkeypatch.context() as patched:
        patched.setattr(Run, "log", log_then_signal)
        code, _, err = fit(*command)
    assert (code, len(err.splitlines())) == (130, 1)
    assert "interrupted after 2 epochs; the state is in run/checkpoint" in err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    code, _, err = fit(*command)
    assert (code, "add --resume" in err) == (2, True)
    code, _, err = fit(*command, "--resume", "--set", "dropout=0.5")
    assert code == 2
    code, _, err = fit(*command[:-1], "lr=0.01", "--resume")
    assert (code, "begun with lr=0.05, not 0.01" in err) == (2, True)
    told = []
    monkeypatch.setattr(Run, "log", lambda run, record: (log(run, record), told.append(record)))
    assert fit(*command, "--resume")[::2] == (0, "")
    assert [record["epoch"] for record in told] == [1, 2, 3]
    found = {path.name: path.read_bytes() for path in Path("run").iterdir()}
    for path in Path("whole").iterdir():
        if path.name not in ("times.jsonl", "report.html"):
            assert found[path.name] == path.read_bytes(), path.name
    Path("run/report.html").unlink()
    code, out, _ = fit(*command, "--resume")  # finished: nothing but the report is left to do
    assert (code, "finished already" in out) == (0, True)
    assert {path.name: path.read_bytes() for path in Path("run").iterdir()} == found


def test_a_column_that_tells_nothing_is_named(fit: Command) -> None:
    table(X).with_columns(b=pl.lit(7)).write_csv("x.csv")
    code, _, err = fit("labels.csv", "--features", "x.csv", "--out", "run", *QUICK)
    assert (code, len(err.splitlines())) == (0, 1)
    assert "x.csv: 1 of 3 columns are the same for every item and tell nothing: 'b'" in err
    assert np.isfinite(crowdwise.load("run").predict_proba(X)).all()


def test_meta_gradients_that_are_not_finite_are_counted(
    fit: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crowdwise.methods import team

    once = iter([True])
    along = team.crowd_gradients_along

    def broken(*given: torch.Tensor) -> torch.Tensor:
        return along(*given) * (float("nan") if next(once, False) else 1)

    monkeypatch.setattr(team, "crowd_gradients_along", broken)
    options = ("--set", "warmup_epochs=1", "--set", "n_groups=2")
    code, _, err = fit("labels.csv", "--features", "x.csv", "--out", "run", *QUICK, *options)
    assert (code, len(err.splitlines())) == (0, 1)
    counts = [epoch.get("skipped_corrections", 0) for epoch in crowdwise.load("run").history_]
    assert f"{counts[1]} corrections were left out" in err
    assert (counts[0], counts[1] > 0, counts[2]) == (0, True, 0)


def test_training_that_diverges_leaves_no_state_to_go_on_from(fit: Command) -> None:
    command = ("labels.csv", "--features", "x.csv", "--out", "run", "--epochs", "50")
    wild = ("--set", "lr=1e30", "--set", "optimizer=sgd", "--checkpoint-minutes", "0")
    code, _, err = fit(*command, *wild)
    assert (code, "lower lr" in err) == (2, True)
    assert not Path("run/checkpoint").exists()
    assert fit(*command, "--set", "lr=0.01")[0] == 0


def test_what_is_wrong_with_the_table_is_said_without_torch(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom crowdwise.cli.main import run\n"
        "try:\n    run(['fit', 'absent.csv', '--features', 'x.npy', '--out', 'run'])\n"
        "except SystemExit as stopped:\n    print(stopped.code, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["2", "False"]


def test_a_terminal_without_unicode(fit: Command) -> None:
    text = Path("labels.csv").read_text().replace(",ann,", ",zoë,")
    Path("labels.csv").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "crowdwise", "fit", "labels.csv"),
            *("--features", "x.csv", "--out", "run", *QUICK),
        ],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"zo?" in done.stdout


def truth(items: list[str]) -> None:
    rows = [f"{n},{t}" for n, t in zip(NAMES, TRUE, strict=True) if n in items]
    Path("truth.csv").write_text("\n".join(["item,label", *rows]))


def test_gold_is_trusted_and_named_nowhere(fit: Command) -> None:
    truth(NAMES[:12])
    base = ("labels.csv", "--features", "x.csv", "--truth", "truth.csv", *QUICK)
    code, out, err = fit(*base, "--out", "gold", "--gold")
    assert (code, err) == (0, "")
    assert "known answers" in out
    assert "right on" not in out  # nothing is measured by what was learned
    consensus = pl.read_csv("gold/consensus.csv").filter(pl.col("decided_by") == "gold")
    assert sorted(consensus["item"]) == NAMES[:12]
    by_item = dict(zip(NAMES, TRUE, strict=True))
    assert all(by_item[item] == label for item, label in consensus.select("item", "label").rows())
    assert set(pl.read_parquet("gold/annotators.parquet")["annotator"]) == {"ann", "=bob()", "cy"}
    config = json.loads(Path("gold/config.json").read_text())
    assert config["gold"].startswith("12 answers, ")
    assert crowdwise.load("gold").predict(X).shape == (30,)
    code, _, err = fit("labels.csv", "--features", "x.csv", "--out", "other", "--gold")
    assert (code, err) == (
        2,
        "crowdwise: --gold needs the answers that are certain; name their file with --truth\n",
    )


def words() -> None:
    said = np.where(TRUE == "cat", "soft purring creature", "loud barking beast")
    rows = pl.DataFrame({"task": NAMES, "story": [f"{s} {i}" for i, s in enumerate(said)]})
    pl.concat([rows, rows[:5]]).write_csv("texts.csv")  # rows that say the same are one


def test_texts_by_their_words(fit: Command, capsys: pytest.CaptureFixture[str]) -> None:
    words()
    code, out, err = fit(
        *("labels.csv", "--features", "texts.csv", "--embed", "tfidf", "--out", "run"),
        *("--net", "linear", "--epochs", 40, "--set", "lr=0.05"),
    )
    assert (code, err) == (0, "")
    assert "30 texts as" in out
    Path("new.csv").write_text("item,story\na,a purring creature\nb,a barking beast\n")
    with pytest.raises(SystemExit):
        run(["predict", "run", "new.csv"])
    assert [line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]] == [
        "cat",
        "dog",
    ]


def pictures(endings: bool = False, size: int = 6) -> None:
    image = pytest.importorskip("PIL.Image", reason="the extra images is not installed")
    Path("pictures").mkdir()
    for name, true in zip(NAMES, TRUE, strict=True):
        grey = RNG.integers(0, 90, (size, size)).astype(np.uint8)
        grey[:, size // 2 :] += 0 if true == "cat" else 150
        image.fromarray(grey).save(f"pictures/{name}.png")
    if endings:
        text = Path("labels.csv").read_text()
        Path("labels.csv").write_text(re.sub(r"(photo \d\d)", r"\1.png", text))


@pytest.mark.parametrize("endings", [False, True])
def test_a_folder_of_images(
    fit: Command, endings: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    pictures(endings)
    options = ("--epochs", 15, "--set", "lr=0.01", "--method", "crowd-layer")
    code, out, err = fit("labels.csv", "--features", "pictures", "--out", "run", *options)
    assert (code, err) == (0, "")
    assert "cnn: items are images of 1×6×6" in out
    consensus = crowdwise.load("run").consensus_
    assert sorted(consensus["item"]) == [n + ".png" * endings for n in NAMES]
    with pytest.raises(SystemExit):
        run(["predict", "run", "pictures", "--out", "p.csv"])
    assert "30 items" in capsys.readouterr().err
    predicted = pl.read_csv("p.csv")
    assert sorted(predicted["item"]) == sorted(consensus["item"])
    by_item = dict(zip([n + ".png" * endings for n in NAMES], TRUE, strict=True))
    right = [by_item[item] == label for item, label in predicted.select("item", "label").rows()]
    assert np.mean(right) > 0.8


def test_large_images_are_scaled_and_it_is_said(fit: Command) -> None:
    pictures(size=140)
    code, out, _ = fit("labels.csv", "--features", "pictures", "--out", "run", *QUICK)
    assert code == 0
    assert "140×140 to 140×140 pixels are scaled to 64×64" in out
    assert json.loads(Path("run/config.json").read_text())["input"] == [1, 64, 64]
    code, out, _ = fit(
        *("labels.csv", "--features", "pictures", "--out", "own", "--image-size", "8x10"), *QUICK
    )
    assert code == 0
    assert json.loads(Path("own/config.json").read_text())["input"] == [1, 8, 10]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--features", "texts.csv"], "photo 00 has more than one row; keep one, or name"),
        (["--features", "texts.csv", "--embed", "tfidf", "--text", "tale"], "no column 'tale'"),
        (["--features", "x.csv", "--embed", "tfidf"], "no column holds text"),
        (["--features", "x.csv", "--text", "a"], "say how to read it with --embed"),
        (["--features", "x.npy", "--embed", "tfidf"], "texts are read from .csv"),
        (["--features", "x.csv", "--image-size", "8"], "no folder of images"),
        (["--features", "pictures", "--image-size", "wide"], "--image-size is 'wide'"),
        (["--features", "pictures", "--items", "labels.csv"], "leave --items out"),
        (["--features", "pictures", "--embed", "tfidf"], "leave --embed out"),
        (["--features", "empty"], "no image to read"),
        (["--features", "x.csv", "--features-item", "photo"], "there is no column 'photo'"),
        (["--features", "texts.csv", "--embed", "nowhere"], "--embed nowhere"),
    ],
)
def test_features_of_another_form_than_said(
    fit: Command, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    words()
    pictures()
    Path("empty").mkdir()
    code, out, err = fit("labels.csv", "--out", "run", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert not Path("run").exists()
