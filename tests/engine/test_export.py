"""What is exported gives the run's predictions, for any number of items, without crowdwise."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from crowdwise import CrowdClassifier, InputError, methods
from crowdwise.engine.export import to_onnx, to_torch

RNG = np.random.default_rng(0)
X = (RNG.normal(size=(40, 3)) * [1, 1000, 1] + [0, 5000, 0]).astype(np.float32)
SAID = np.where(RNG.random((40, 4)) < 0.5, RNG.integers(0, 3, (40, 4)), -1)
SAID[:3] = np.arange(3)[:, None]
NAMES = [name for name in methods.names() if name != "true-labels"]


def trained(method: str, x: np.ndarray = X, net: str = "mlp") -> CrowdClassifier:
    return CrowdClassifier(method, net=net, epochs=2, lr=0.01, n_models=2).fit(x, SAID)


def about(classifier: CrowdClassifier) -> tuple:
    return classifier.model_, classifier.shape_.input, classifier.classes_.tolist()


@pytest.mark.parametrize("method", NAMES)
def test_torch_export_predicts_what_the_run_does(tmp_path: Path, method: str) -> None:
    classifier = trained(method)
    to_torch(*about(classifier), tmp_path / "m.pt2")
    said = {"classes.json": "", "input.json": ""}
    module = torch.export.load(tmp_path / "m.pt2", extra_files=said).module()
    for n in (1, 2, 40):
        found = module(torch.from_numpy(X[:n])).numpy()
        np.testing.assert_allclose(found, classifier.predict_proba(X[:n]), atol=1e-6)
    assert json.loads(said["classes.json"]) == [0, 1, 2]
    assert json.loads(said["input.json"]) == [3]


@pytest.mark.parametrize("method", ["ccc", "doctor-net"])
def test_onnx_predicts_what_the_run_does(tmp_path: Path, method: str) -> None:
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    pytest.importorskip("onnxscript", reason="the extra onnx is not installed")
    from onnx.reference import ReferenceEvaluator

    classifier = trained(method)
    to_onnx(*about(classifier), tmp_path / "m.onnx")
    model = onnx.load(tmp_path / "m.onnx")
    assert {p.key: json.loads(p.value) for p in model.metadata_props}["classes"] == [0, 1, 2]
    evaluate = ReferenceEvaluator(model)
    for n in (1, 2, 40):
        found = evaluate.run(["probabilities"], {"x": X[:n]})[0]
        np.testing.assert_allclose(found, classifier.predict_proba(X[:n]), atol=1e-5)


def test_images_are_exported_too(tmp_path: Path) -> None:
    images = RNG.random((40, 3, 8, 8), dtype=np.float32)
    classifier = trained("ccc", images, net="cnn")
    to_torch(*about(classifier), tmp_path / "m.pt2")
    module = torch.export.load(tmp_path / "m.pt2").module()
    found = module(torch.from_numpy(images)).numpy()
    np.testing.assert_allclose(found, classifier.predict_proba(images), atol=1e-5)


def test_the_classifier_itself_stays_as_it_was(tmp_path: Path) -> None:
    classifier = trained("ccc")
    before = classifier.predict_proba(X)
    to_torch(*about(classifier), tmp_path / "m.pt2")
    assert all(p.requires_grad for p in classifier.model_.parameters())
    assert classifier.predict_proba(X).tobytes() == before.tobytes()


def test_the_file_needs_no_crowdwise(tmp_path: Path) -> None:
    classifier = trained("ccc")
    to_torch(*about(classifier), tmp_path / "m.pt2")
    np.save(tmp_path / "x.npy", X)
    code = (
        "import sys\nsys.modules['crowdwise'] = None\nimport numpy as np, torch\n"
        "module = torch.export.load('m.pt2').module()\n"
        "np.save('p.npy', module(torch.from_numpy(np.load('x.npy'))).numpy())"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, check=True)
    found = np.load(tmp_path / "p.npy")
    np.testing.assert_allclose(found, classifier.predict_proba(X), atol=1e-6)


def test_onnx_that_is_not_installed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(InputError, match=r"pip install 'crowdwise\[onnx\]'"):
        to_onnx(*about(trained("ccc")), tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
