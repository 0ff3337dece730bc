"""What is fuzzed: a name, examples to start from, and what is done with bytes that nobody chose.

`InputError` is the one answer to bad bytes. Anything else is a finding: another exception, a
message of several lines, a file opened for writing elsewhere, more than `SECONDS`.
"""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crowdwise import CrowdClassifier, load, read_annotations
from crowdwise.annotations import Annotations
from crowdwise.batches.features import read_features
from crowdwise.engine.checkpoint import Checkpoints
from crowdwise.errors import InputError
from crowdwise.report.html import write_report

SECONDS = 30
X = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
DENSE = np.tile([[0, 1, 0], [1, 1, -1]], (6, 1))


class Target(NamedTuple):
    """The first byte of an input chooses among `files`; the rest is that file's content."""

    files: dict[str, bytes]  # name -> a good content
    use: Callable[[Path], None]


class Finding(Exception):
    """Something that bad bytes must not bring about."""


def classifier(epochs: int = 2) -> CrowdClassifier:
    return CrowdClassifier("crowd-layer", net="linear", epochs=epochs, batch_size=4)


def go_on(path: Path) -> None:
    """Resume a training from a checkpoint."""
    model = classifier()
    model._train(model._prepare(X, DENSE, None), checkpoints=Checkpoints(path.parent))


def open_run(path: Path) -> None:
    for use in (load, write_report):
        try:
            use(path.parent)
        except InputError as error:
            one_sentence(error)


def targets(folder: Path) -> dict[str, Target]:
    """Every target, with good files made in `folder`."""
    table = Annotations.from_dense(DENSE).to_frame()
    table.write_csv(folder / "a.csv")
    table.write_parquet(folder / "b.parquet")
    table.write_ndjson(folder / "c.jsonl")
    (folder / "d.json").write_text(json.dumps(table.to_dicts()))
    np.save(folder / "x.npy", X)
    np.savez(folder / "y.npz", x=X, items=np.arange(12))
    rows = [f"{i},{a},{b}" for i, (a, b) in enumerate(X[:, :2].tolist())]
    (folder / "z.csv").write_text("\n".join(["item,a,b", *rows]))
    classifier().fit(X, DENSE).save(folder / "run")
    model = classifier()
    kept = Checkpoints(folder, epochs=1)
    model._train(model._prepare(X, DENSE, None), checkpoints=kept)

    def good(*names: str) -> dict[str, bytes]:
        return {Path(name).name: (folder / name).read_bytes() for name in names}

    run = [f"run/{path.name}" for path in sorted((folder / "run").iterdir())]
    return {
        "labels": Target(good("a.csv", "b.parquet", "c.jsonl", "d.json"), read_annotations),
        "features": Target(good("x.npy", "y.npz", "z.csv"), read_features),
        "run": Target(good(*run), open_run),
        "checkpoint": Target(good("state.safetensors"), go_on),
    }


class Fuzz:
    """Hands inputs to one target, in a folder that holds its good files."""

    def __init__(self, target: Target, folder: Path) -> None:
        self.target, self.folder = target, folder
        self.names = sorted(target.files)
        for name in self.names:
            (folder / name).write_bytes(target.files[name])

    def examples(self) -> Iterator[bytes]:
        """Good inputs."""
        for number, name in enumerate(self.names):
            yield bytes([number]) + self.target.files[name]

    def __call__(self, data: bytes) -> None:
        name = self.names[data[0] % len(self.names)] if data else self.names[0]
        path = self.folder / name
        path.write_bytes(data[1:])
        try:
            with _in_time(), _writing_only(self.folder):
                self.target.use(path)
        except InputError as error:
            one_sentence(error)
        finally:
            for other in self.folder.iterdir():
                if other.name not in self.target.files:
                    other.unlink()
            for other in self.names:
                (self.folder / other).write_bytes(self.target.files[other])


def one_sentence(error: InputError) -> None:
    if "\n" in str(error) or len(str(error)) > 2000:
        raise Finding(f"not one sentence: {error}") from error


@contextmanager
def _in_time() -> Iterator[None]:
    def late(*_: object) -> None:
        raise Finding(f"more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


_allowed: list[Path] = []  # where files may be opened for writing; empty: anywhere


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _allowed or not isinstance(arguments[0], str | bytes):
        return
    writes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    path = Path(os.fsdecode(arguments[0])).absolute()
    if (
        writes
        and "__pycache__" not in path.parts
        and not any(path.is_relative_to(place) for place in _allowed)
    ):
        raise Finding(f"opens {path} for writing")


@contextmanager
def _writing_only(folder: Path) -> Iterator[None]:
    if not getattr(sys, "_crowdwise_watched", False):
        sys.addaudithook(_watch)
        sys._crowdwise_watched = True  # type: ignore[attr-defined]
    _allowed[:] = [folder, Path(tempfile.gettempdir()) / "torchinductor", Path("/dev/null")]
    try:
        yield
    finally:
        _allowed.clear()
