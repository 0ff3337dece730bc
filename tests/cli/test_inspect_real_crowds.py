"""The paper's noise rates and annotator counts, through the command, on the real crowds."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

from crowdwise.cli.main import run

DATA = os.environ.get("CROWDWISE_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="CROWDWISE_DATA does not name the real data")


def inspected(capsys: pytest.CaptureFixture[str], table: Path, truth: Path) -> dict:
    with pytest.raises(SystemExit) as stopped:
        run(["inspect", str(table), "--truth", str(truth), "--json"])
    said = capsys.readouterr()
    assert (stopped.value.code or 0, said.err) == (0, "")
    return json.loads(said.out)


def rates(summary: dict) -> tuple[str, str]:
    return f"{100 * summary['truth']['nr1']:.2f}", f"{100 * summary['truth']['nr2']:.2f}"


def write_rows(path: Path, header: str, *columns: np.ndarray) -> Path:
    with path.open("w", newline="") as stream:
        stream.write(header + "\n")
        csv.writer(stream).writerows(zip(*(c.tolist() for c in columns), strict=True))
    return path


def test_labelme(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    answers = np.loadtxt(Path(DATA) / "labelme" / "answers.txt", dtype=int)
    with np.load(Path(DATA) / "labelme" / "labelme_vgg16_f16_original.npz") as arrays:
        true = arrays["y_train"].astype(int)
    item, annotator = np.nonzero(answers >= 0)
    columns = (item, annotator, answers[item, annotator])
    table = write_rows(tmp_path / "labelme.csv", "item,annotator,label", *columns)
    truth = write_rows(tmp_path / "truth.csv", "item,truth", np.arange(len(true)), true)
    summary = inspected(capsys, table, truth)
    assert (summary["items"], summary["annotators"], summary["labels"]) == (1000, 59, 2547)
    assert rates(summary) == ("11.10", "25.95")


def test_music(capsys: pytest.CaptureFixture[str]):
    folder = Path(DATA) / "music"
    summary = inspected(capsys, folder / "music_genre_mturk.csv", folder / "music_genre_gold.csv")
    assert (summary["items"], summary["annotators"], summary["labels"]) == (700, 44, 2945)
    assert rates(summary) == ("12.71", "43.97")


def test_cifar10n(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """All 747 annotators are in the table; the truth covers the first 4,500 of each class."""
    with np.load(Path(DATA) / "cifar10n" / "cifar10n_compact.npz") as arrays:
        labels = np.stack([arrays[f"random_label{i}"] for i in (1, 2, 3)], axis=1)
        worker, true = arrays["worker"], arrays["clean_label"]
    item = np.repeat(np.arange(len(true)), 3)
    columns = (item, worker.ravel(), labels.ravel())
    table = write_rows(tmp_path / "cifar10n.csv", "item,annotator,label", *columns)
    first = np.concatenate([np.flatnonzero(true == c)[:4500] for c in range(10)])
    truth = write_rows(tmp_path / "truth.csv", "item,truth", first, true[first])
    summary = inspected(capsys, table, truth)
    assert (summary["annotators"], summary["labels"]) == (747, 150_000)
    assert (summary["truth"]["items"], summary["truth"]["labels"]) == (45_000, 135_000)
    assert rates(summary) == ("2.13", "17.71")
