"""Files that mean harm: nothing they hold is run, they take little memory, and are named."""

import gzip
import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file, save_file

from crowdwise.cli.main import run as crowdwise
from tests.robustness.conftest import AtWork
from tests.robustness.work import FIT, contents

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by RLIMIT_AS")
MANY = 10**12


class Bait:
    """A pickle of it, when loaded, makes a folder."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.marker),)


def header(said: dict) -> bytes:
    text = json.dumps(said).encode()
    return struct.pack("<Q", len(text)) + text


def tensor(shape: list[int], end: int) -> dict:
    return {"dtype": "F32", "shape": shape, "data_offsets": [0, end]}


def weights() -> dict[str, bytes]:
    """What stands in for model.safetensors."""
    return {
        "header-of-2-to-the-62": struct.pack("<Q", 2**62) + b"{}",
        "header-cut": struct.pack("<Q", 90) + b'{"a": ',
        "larger-than-the-file": header({"a": tensor([MANY], 4 * MANY)}),
        "sizes-overflow": header({"a": tensor([2**40, 2**40], 2**62)}),
        "negative-offsets": header({"a": {**tensor([1], 4), "data_offsets": [4, 0]}}) + bytes(4),
        "name-climbs": header({"../../a": tensor([1], 4)}) + bytes(4),
        "nested": struct.pack("<Q", 200_000) + b"[" * 200_000,
    }


def npy(shape: tuple, data: bytes = bytes(64), kind: str = "<f4") -> bytes:
    said = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}"
    text = said.encode().ljust(118 + 64 * (len(said) // 64)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def zipped(**members: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return file.getvalue()


def long_parquet(path: Path, rows: int) -> None:
    """Rows that are all alike take next to nothing."""
    part = pa.table({name: np.ones(10**6, int) for name in ("item", "annotator", "label")})
    with pq.ParquetWriter(path, part.schema) as writer:
        for _ in range(rows // 10**6):
            writer.write_table(part)


@pytest.fixture(scope="module")
def said(at_work: AtWork, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    """What came of every hostile file."""
    folder = tmp_path_factory.mktemp("hostile")
    good, marker = at_work.folder / "whole", folder / "MARKER"
    bait = Bait(marker)
    torch_file = BytesIO()
    torch.save({"a": bait}, torch_file)
    object_array = BytesIO()
    np.save(object_array, np.array([bait], dtype=object), allow_pickle=True)
    pickled = {
        "pickle": pickle.dumps(bait),
        "pickle-of-torch": torch_file.getvalue(),
        "array-of-objects": object_array.getvalue(),
    }
    shutil.copytree(good, folder / "run--good")
    shutil.copy(at_work.folder / "labels.csv", folder / "labels--good.csv")
    np.save(folder / "features--good.npy", np.eye(4))
    np.save(folder / "items--good.npy", np.arange(4))
    np.save(folder / "truth--good.npy", np.arange(4))

    def run_with(name: str, file: str, write: Callable[[Path], object]) -> None:
        copy = shutil.copytree(good, folder / f"run--{file.partition('.')[0]}-{name}")
        (copy / file).unlink()
        write(copy / file)

    for name, data in pickled.items():
        for file in ("model.safetensors", "config.json", "metrics.jsonl", "consensus.parquet"):
            run_with(name, file, lambda path, data=data: path.write_bytes(data))
        for kind in ("labels", "features", "items", "truth"):
            ends = {"labels": (".csv", ".parquet"), "features": (".npy", ".npz", ".csv")}
            for end in ends.get(kind, (".npy",)):
                (folder / f"{kind}--{name}{end}").write_bytes(data)
        (folder / f"features--holds-{name}.npz").write_bytes(zipped(x=data))
    for name, data in weights().items():
        run_with(name, "model.safetensors", lambda path, data=data: path.write_bytes(data))
    trained = load_file(good / "model.safetensors")
    largest = max(trained, key=lambda name: trained[name].numel())
    for name, changed in (
        ("cut", trained[largest][:-1]),
        ("one-more-axis", trained[largest][None]),
        ("of-another-kind", trained[largest].to(torch.complex64)),
    ):
        run_with(
            f"tensor-{name}",
            "model.safetensors",
            lambda path, changed=changed: save_file({**trained, largest: changed}, path),
        )
    run_with(
        "tensor-missing",
        "model.safetensors",
        lambda path: save_file({largest: trained[largest]}, path),
    )
    config = json.loads((good / "config.json").read_text())
    for name, change in (
        ("annotators", {"annotators": MANY}),
        ("input", {"input": [MANY]}),
        ("inputs", {"input": [2**20] * 9}),
        ("classes", {"classes": list(range(20_000))}),
        ("models", {"settings": {**config["settings"], "n_models": MANY}}),
        ("groups", {"settings": {**config["settings"], "n_groups": MANY}}),
        ("net-of-torch", {"net": "torch.hub.load"}),
        ("net-climbs", {"net": "../../../evil.py"}),
    ):
        text = json.dumps(config | change)
        run_with(name, "config.json", lambda path, text=text: path.write_text(text))
    run_with("nested", "config.json", lambda path: path.write_text("[" * 200_000))
    run_with("digits", "config.json", lambda path: path.write_text("9" * 200_000))
    run_with("nested", "metrics.jsonl", lambda path: path.write_text("[" * 200_000 + "\n"))
    run_with("many-rows", "consensus.parquet", lambda path: long_parquet(path, 20 * 10**6))
    run_with("link", "labels.parquet", lambda path: path.symlink_to("/etc/passwd"))
    run_with("zero", "labels.parquet", lambda path: path.symlink_to("/dev/zero"))

    shutil.copy(
        folder / "run--consensus-many-rows/consensus.parquet", folder / "labels--rows.parquet"
    )
    line = b"item,annotator,label\n" + b"1,2,3\n" * 2**21
    (folder / "labels--bomb.csv.gz").write_bytes(gzip.compress(line) * 12)
    (folder / "labels--cut.csv.gz").write_bytes(gzip.compress(line)[:-100])
    (folder / "features--far-larger.npy").write_bytes(npy((MANY, 4)))
    (folder / "features--overflows.npy").write_bytes(npy((2**40, 2**40)))
    (folder / "features--negative.npy").write_bytes(npy((-1, 4)))
    (folder / "features--code-in-the-header.npy").write_bytes(npy(("__import__('os')", 4)))
    (folder / "features--far-larger.npz").write_bytes(zipped(x=npy((MANY, 4))))
    (folder / "features--bomb.npz").write_bytes(zipped(x=npy((25 * 2**20, 1), bytes(100 * 2**20))))
    (folder / "features--climbs.npz").write_bytes(zipped(**{"../../x": npy((4, 4))}))
    (folder / "truth--far-larger.npy").write_bytes(npy((MANY,)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.robustness.hostile", folder],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1]), marker


HARMLESS = (  # read all the same: what is wrong is nothing that the reader looks at
    "write_report run--model",
    "write_report run--config-annotators",
    "write_report run--config-groups",
    "write_report run--config-input",
    "write_report run--config-models",
    "write_report run--config-net",
)


def refused(error: str | None) -> bool:
    return error is not None and error.startswith("InputError: ") and "\n" not in error


@pytest.mark.slow
def test_every_hostile_file_is_refused_in_one_sentence(said: tuple[dict, Path]) -> None:
    outcomes, marker = said
    assert len(outcomes) > 80
    wrong = {
        name: error
        for name, (error, _) in outcomes.items()
        if not refused(error)
        and not (error is None and ("--good" in name or name.startswith(HARMLESS)))
    }
    assert not wrong, "\n".join(f"{name}: {error}" for name, error in wrong.items())
    assert not marker.exists()


@pytest.mark.slow
def test_memory_is_bounded_by_the_file(said: tuple[dict, Path]) -> None:
    grown = 0
    for name, (_, total) in said[0].items():
        assert total - grown < 300, (name, total - grown)
        grown = max(grown, total)


def test_a_link_in_a_run_folder_is_not_written_through(
    at_work: AtWork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """An unfinished run from elsewhere may point at what is not its own."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("as it was")
    (mine / ".precious.abcdefgh.part").write_text("as it was")
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(at_work.folder / "whole" / "config.json", run)
    for name in ("metrics.jsonl", "times.jsonl", "report.html", "consensus.csv"):
        (run / name).symlink_to(mine / "precious")
    (run / "checkpoint").symlink_to(mine)
    before = contents(mine)
    monkeypatch.chdir(at_work.folder)
    command = [*map(str, FIT), "--out", str(run), "--resume"]
    with pytest.raises(SystemExit) as stopped:
        crowdwise(command)
    assert stopped.value.code == 2
    assert "checkpoint: is a link" in capsys.readouterr().err
    (run / "checkpoint").unlink()
    with pytest.raises(SystemExit) as stopped:
        crowdwise(command)
    assert stopped.value.code in (0, None)
    assert contents(mine) == before
    assert pl.read_parquet(run / "labels.parquet").height > 0
