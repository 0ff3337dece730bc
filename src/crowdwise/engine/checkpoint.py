"""A training's state in one file, so that a killed run goes on and ends in the same bytes.

The file is safetensors with a JSON header: reading it runs no code. It is replaced whole, so a kill
while it is written leaves the one before.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from time import monotonic
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open

from crowdwise.batches import CrowdData
from crowdwise.engine.saving import write_weights
from crowdwise.engine.state import State, pack, unpack
from crowdwise.errors import InputError
from crowdwise.files import sweep
from crowdwise.methods.base import Method

FILE = "state.safetensors"
SAMPLE = 64  # rows of features that tell one data set from another
DAMAGE = (  # what torch and safetensors raise when a file does not fit
    *(SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError, AttributeError),
    *(IndexError, RecursionError, OverflowError, MemoryError),
)


class Checkpoints:
    """Where a training's state is kept, and how often.

    Args:
        folder: holds one file, the latest state.
        minutes: at most so long between two checkpoints, inside an epoch as well; 0 keeps every
            batch.
        epochs: also after so many epochs; None leaves it to the clock.
    """

    def __init__(self, folder: str | Path, minutes: float = 5.0, epochs: int | None = None) -> None:
        if not minutes >= 0:
            raise InputError(f"minutes between checkpoints are {minutes}; give 0 or more")
        if epochs is not None and epochs < 1:
            raise InputError(f"epochs between checkpoints are {epochs}; give 1 or more")
        self.folder = Path(folder)
        self.minutes, self.epochs = minutes, epochs
        self.resumed = False  # was a state there to go on from?
        self._training: dict[str, Any] = {}
        self._stop = False
        self._last = monotonic()

    def begin(self, method: Method, data: CrowdData, state: State) -> None:
        """Take up the state that is there, if it is of this very training."""
        self._training = identity(method, data)
        self._last = monotonic()
        if self.folder.is_dir():
            sweep(self.folder)
        if not self.file.is_file():
            return
        try:
            with safe_open(self.file, framework="pt") as stored:
                said = json.loads((stored.metadata() or {})["state"])
                self._same(said["training"])
                tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
            unpack(method, state, tensors, said)
            self.resumed = True
        except InputError:
            raise
        except DAMAGE as error:
            reason = str(error).partition("\n")[0]
            raise InputError(
                f"{self.file}: is no checkpoint of this training ({reason:.200}); remove it to "
                "start anew"
            ) from error

    def due(self, state: State) -> bool:
        """Is it time? Asked after every batch and every epoch."""
        if self._stop or monotonic() - self._last >= 60 * self.minutes:
            return True
        return bool(self.epochs and state.batch == 0 and state.epoch % self.epochs == 0)

    def keep(self, method: Method, state: State) -> None:
        """Write the state, whole or not at all."""
        tensors, said = pack(method, state)
        text = json.dumps({"training": self._training, **said})
        write_weights(self.file, tensors, {"state": text})
        self._last = monotonic()
        if self._stop:
            raise KeyboardInterrupt

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM let the running batch end, keep the state, then interrupt; a second
        one does not wait.
        """
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread hears signals
            return

        def stop(*_: object) -> None:
            if self._stop:
                raise KeyboardInterrupt
            self._stop = True

        before = {name: signal.signal(name, stop) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def remove(self) -> None:
        """Once the training's results are safe, nothing of it is needed."""
        rmtree(self.folder, ignore_errors=True)

    @property
    def file(self) -> Path:
        return self.folder / FILE

    def _same(self, begun: Mapping[str, Any]) -> None:
        now = self._training
        names = ["method", *(f"options.{name}" for name in now["options"]), "data"]
        flat = [{**t, **{f"options.{k}": v for k, v in t["options"].items()}} for t in (begun, now)]
        for name in names:
            then, wanted = flat[0].get(name), flat[1][name]
            if then != wanted:
                said = (
                    "other labels or other features"
                    if name == "data"
                    else f"{name.removeprefix('options.')}={then}, not {wanted}"
                )
                raise InputError(
                    f"{self.file}: that training was begun with {said}; go on as it began, or "
                    "name another folder"
                )


def identity(method: Method, data: CrowdData) -> dict[str, Any]:
    """What a training must share with the one that wrote a checkpoint, as JSON gives it back."""
    options = json.loads(json.dumps(asdict(method.options)))
    return {"method": type(method).__name__, "options": options, "data": fingerprint(data)}


def fingerprint(data: CrowdData) -> str:
    """A hash of every label and of a sample of the features."""
    crowd, digest = data.annotations, sha256()
    digest.update(repr((data.shape, len(data), crowd.classes.tolist())).encode())
    for codes in (crowd.item, crowd.annotator, crowd.label):
        digest.update(codes.tobytes())
    rows = torch.as_tensor(np.linspace(0, len(data) - 1, min(SAMPLE, len(data)), dtype=np.int64))
    digest.update(data.x(rows.to(data.device)).cpu().numpy().tobytes())
    return digest.hexdigest()
