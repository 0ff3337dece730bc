"""Truth in, crowd out: files hold what `crowd` returns, and memory stays bounded."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdwise.simulate.plan as plan_module
from crowdwise import InputError
from crowdwise.simulate import crowd
from crowdwise.simulate.plan import plan
from crowdwise.simulate.truth import made_up, read_truth, write_truth
from crowdwise.simulate.write import write_annotators, write_crowd

TRUTH = np.arange(500) % 10


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(plan_module, "_PAIRS", 100)


@pytest.mark.parametrize("name", ["crowd.csv", "crowd.parquet"])
def test_a_file_holds_the_crowd(tmp_path, name, small_blocks):
    tally = write_crowd(plan(TRUTH, "COR-II", seed=3), tmp_path / name)
    frame = (pl.read_csv if name.endswith("csv") else pl.read_parquet)(tmp_path / name)
    expected = crowd(TRUTH, "COR-II", seed=3)
    assert frame.columns == ["item", "annotator", "label"]
    for column in frame.columns:
        np.testing.assert_array_equal(frame[column].to_numpy(), getattr(expected, column))
    wrong = expected.label != TRUTH[expected.item]
    assert tally.n_labels == 1500
    assert tally.nr2 == wrong.mean()
    assert tally.nr1 == wrong.reshape(-1, 3).all(axis=1).mean()
    assert tally.annotators_up_to_20 == (np.bincount(expected.annotator, minlength=250) <= 20).sum()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_parquet_has_the_same_bytes_whatever_the_threads_or_blocks(tmp_path):
    script = (
        "import sys, numpy as np, crowdwise.simulate.plan as p;"
        "from crowdwise.simulate.write import write_crowd;"
        "write_crowd(p.plan(np.arange(200_000) % 10, 'COR-I'), sys.argv[1])"
    )
    digests = set()
    for threads in ("1", "2", "4"):
        target = tmp_path / f"{threads}.parquet"
        environment = {**os.environ, "POLARS_MAX_THREADS": threads}
        subprocess.run([sys.executable, "-c", script, str(target)], check=True, env=environment)
        digests.add(hashlib.sha256(target.read_bytes()).hexdigest())
    assert len(digests) == 1


def test_items_and_labels_keep_their_names(tmp_path):
    ids = pl.Series("item", [f"image-{i}.png" for i in range(300)])
    names = np.array(["cat", "dog", "owl"])[np.arange(300) % 3]
    write_crowd(plan(names, "sym-0.1", seed=1), tmp_path / "crowd.csv", ids)
    frame = pl.read_csv(tmp_path / "crowd.csv")
    expected = crowd(names, "sym-0.1", seed=1)
    assert frame["item"].to_list() == [f"image-{i}.png" for i in expected.item]
    assert frame["label"].to_list() == expected.classes[expected.label].tolist()


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    made = plan(TRUTH, "IND-I")
    monkeypatch.setattr(plan_module.Plan, "labels", stop)
    for name in ("crowd.csv", "crowd.parquet"):
        with pytest.raises(KeyboardInterrupt):
            write_crowd(made, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_annotators_are_written_with_what_made_them(tmp_path):
    made = plan(TRUTH, "COR-II", n_per_pattern=2)
    write_annotators(made, tmp_path / "who.csv")
    frame = pl.read_csv(tmp_path / "who.csv")
    assert frame["pattern"].to_list()[::2] == [p.name for p in made.patterns]
    assert frame["reference"].fill_null(-1).to_list() == made.reference.tolist()
    np.testing.assert_allclose(frame["weight"].to_numpy(), made.weight)


@pytest.mark.parametrize(
    "columns", [("item", "label"), ("task", "truth"), ("ID", "Gold"), ("example", "class")]
)
def test_columns_are_found_by_their_usual_names(tmp_path, columns):
    pl.DataFrame({columns[0]: ["a", "b"], "other": [0, 0], columns[1]: ["x", "y"]}).write_csv(
        tmp_path / "truth.csv"
    )
    found = read_truth(tmp_path / "truth.csv")
    assert found.item_ids.to_list() == ["a", "b"]
    assert found.label.tolist() == ["x", "y"]


def test_columns_can_be_named_and_items_can_be_rows(tmp_path):
    path = tmp_path / "truth.parquet"
    pl.DataFrame({"label": [1, 2], "verdict": [3, 4], "picture": ["p", "q"]}).write_parquet(path)
    assert read_truth(path).item_ids is None
    found = read_truth(path, item="picture", label="verdict")
    assert (found.item_ids.to_list(), found.label.tolist()) == (["p", "q"], [3, 4])


@pytest.mark.parametrize("name", ["truth.csv", "truth.parquet", "truth.npy"])
def test_truth_is_written_and_read_back(tmp_path, name):
    known = made_up(100, 7, seed=1)
    assert set(known.label.tolist()) == set(range(7))
    write_truth(tmp_path / name, known)
    np.testing.assert_array_equal(read_truth(tmp_path / name).label, known.label)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,thing\n1,2\n", "no label column among item, thing"),
        ("item,label\na,1\nb,\n", "row 2: column 'label' is empty"),
        ("item,label\na,1\nb,1\na,2\n", "row 3: item 'a'.*twice"),
        ("", "not a table"),
    ],
)
def test_a_faulty_truth_is_named(tmp_path, text, message):
    path = tmp_path / "truth.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_truth(path)


def test_faulty_files_are_named(tmp_path):
    (tmp_path / "broken.npy").write_text("not an array")
    (tmp_path / "broken.parquet").write_text("not a table")
    np.save(tmp_path / "pickled.npy", np.array([{}], dtype=object))
    for name in ("absent.csv", "absent.npy", "broken.npy", "broken.parquet", "pickled.npy"):
        with pytest.raises(InputError, match=name):
            read_truth(tmp_path / name)
    write_truth(tmp_path / "t.csv", made_up(2, 2, 0))
    with pytest.raises(InputError, match="no column 'nope'"):
        read_truth(tmp_path / "t.csv", label="nope")
    for write in (
        lambda path: write_truth(path, made_up(2, 2, 0)),
        lambda path: write_crowd(plan(TRUTH), path),
        lambda path: write_annotators(plan(TRUTH), path),
    ):
        with pytest.raises(InputError, match=r"\.txt"):
            write(tmp_path / "x.txt")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's peak memory")
def test_ten_million_items_by_ten_thousand_annotators_stream_in_bounded_memory(tmp_path):
    """One byte per (item, annotator) would be 100 GB; the labels alone are 360 MB."""
    script = (
        "import sys, re; from crowdwise.cli.main import run\n"
        "try: run(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    out = tmp_path / "crowd.parquet"
    wanted = ["--items", "10000000", "--classes", "10", "--per-pattern", "2000", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-c", script, "simulate", *wanted],
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(done.stdout.split()[-1]) < 512 * 1024  # kB; 281 MB was measured
    written = pl.scan_parquet(out).select(pl.len(), pl.col("annotator").n_unique()).collect()
    assert written.row(0) == (30_000_000, 10_000)
