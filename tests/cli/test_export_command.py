"""`crowdwise export` from a run folder to a file, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest
import torch

from crowdwise import CrowdClassifier
from crowdwise.cli.main import run

X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CrowdClassifier:
    monkeypatch.chdir(tmp_path)
    classifier = CrowdClassifier(net="mlp", epochs=2).fit(X, np.arange(40).reshape(20, 2) % 3)
    classifier.save("run")
    return classifier


def export(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        run(["export", *arguments])
    return int(stopped.value.code or 0)


def test_the_file_stands_in_the_run_and_predicts_the_same(
    folder: CrowdClassifier, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export("run") == 0
    assert "wrote run/model.pt2" in capsys.readouterr().out
    module = torch.export.load("run/model.pt2").module()
    found = module(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(found, folder.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--to", "tflite"], "there is no such form"),
        (["run", "--out", "model.onnx"], "ends in .pt2"),
        (["absent"], "absent"),
    ],
)
def test_a_fault_is_one_sentence(
    folder: CrowdClassifier,
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert export(*arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
    assert not list(Path().rglob("model.[po]*"))
