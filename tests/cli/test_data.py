"""`crowdwise data` as people type it."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crowdwise import datasets
from crowdwise.cli.main import run
from crowdwise.datasets import cifar10, registry, source
from crowdwise.datasets.recipes import Download, File, Recipe
from tests.datasets.loopback import serving, whole

HERE = os.environ.get("CROWDWISE_DATA")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CROWDWISE_DATA", raising=False)
    monkeypatch.setattr(source, "cache", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """CIFAR-10's six files, all zeros."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in [*cifar10.TRAIN_BATCHES, "test_batch"]:
        with (folder / f"{name}.bin").open("wb") as file:
            file.truncate(30_730_000)  # takes no room
    return folder


def data(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    with pytest.raises(SystemExit) as stopped:
        run(["data", *map(str, arguments)])
    out, error = capsys.readouterr()
    assert stopped.value.code == code, error
    assert (code == 2) == error.startswith("crowdwise: ")
    assert "Traceback" not in error
    return error if code else out


def test_list_names_every_data_set(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = data(capsys, "list")
    for name in datasets.names():
        assert f" {name} " in table
    assert "no: get --from" in table
    assert "MIT" in table


def test_list_for_machines(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["name"]: row for row in json.loads(data(capsys, "list", "--json"))}
    assert list(rows) == datasets.names()
    assert rows["digits"]["here"] is True
    assert rows["music"] == {
        "name": "music",
        "summary": datasets.describe("music").summary,
        "licence": datasets.describe("music").licence,
        "bytes": 4_560_150,
        "here": False,
        "folders": [],
        "download": True,
    }
    assert rows["cifar10n"]["download"] is False


def test_get_from_a_folder_then_path_then_verify(
    cache: Path, batches: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = data(capsys, "get", "cifar10", "--from", batches)
    assert said == f"cifar10 is in {cache / 'cifar10'}\n"
    assert data(capsys, "path", "cifar10") == f"{cache / 'cifar10'}\n"
    needs = datasets.describe("cifar10").recipes
    unread = datasets.Entry("", "", lambda root: None, needs)  # zeros are no CIFAR-10
    monkeypatch.setitem(registry.ENTRIES, "cifar10", unread)
    said = data(capsys, "verify", "cifar10")
    assert said.count("ok (sha256 as when it was put here)") == 6
    assert "its shapes are right" in said
    with (cache / "cifar10/test_batch.bin").open("r+b") as file:
        file.write(b"\1")
    with pytest.raises(SystemExit) as stopped:
        run(["data", "verify", "cifar10"])
    out, error = capsys.readouterr()
    assert stopped.value.code == 2
    assert "test_batch.bin: WRONG" in out
    assert "test_batch.bin: its sha256 is" in error


def test_get_shows_how_far_it_is(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"1,2" * 100_000
    known = File("a.csv", hashlib.sha256(content).hexdigest(), len(content))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    with serving() as server:
        server.answers = [whole(content)]
        download = Download("a.csv", (f"{server.address}/a.csv",), len(content))
        recipe = Recipe("tiny", ((known,),), len(content), "", (download,))
        entry = datasets.Entry("tiny", "none", lambda root: None, (recipe,))
        monkeypatch.setitem(registry.ENTRIES, "tiny", entry)
        with pytest.raises(SystemExit) as stopped:
            run(["data", "get", "tiny"])
    assert stopped.value.code == 0
    out, bar = capsys.readouterr()
    assert out == f"tiny is in {cache / 'tiny'}\n"
    assert "tiny" in bar
    assert "300.0/300.0 kB" in bar


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["get", "mnist"], "no data set is named 'mnist'; choose among music,"),
        (["path", "mnist"], "no data set is named 'mnist'"),
        (["path", "music"], "music/ is not here, or not whole; run crowdwise data get music"),
        (["verify", "music"], "music/ is not here"),
        (["path", "digits"], "embedded in scikit-learn"),
        (["get", "labelme"], "run crowdwise data get labelme --from FOLDER"),
        (["get", "cifar10n"], "run crowdwise data get cifar10n --from FOLDER"),
        (["get", "music", "--from", "/nowhere"], "/nowhere: there is no such folder"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    cache: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    error = data(capsys, *arguments, code=2)
    assert sentence in error
    assert error.count("\n") == 1


def test_digits_need_nothing(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing to get" in data(capsys, "get", "digits")
    assert "its shapes are right" in data(capsys, "verify", "digits")


def test_the_list_needs_no_torch() -> None:
    code = """
import sys
from crowdwise.cli.main import run
try:
    run(["data", "list"])
finally:
    assert "torch" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not HERE, reason="CROWDWISE_DATA is not set: the real data is not here")
def test_real_music_from_its_folder_to_the_cache(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not (Path(str(HERE)) / "music").is_dir():
        pytest.skip("music/ is not in CROWDWISE_DATA")
    data(capsys, "get", "music", "--from", HERE)
    assert data(capsys, "verify", "music").count(": ok (sha256)") == 3
    assert datasets.load("music").x_train.shape == (700, 124)
