"""A run is a folder: config, metrics line by line, results, and a marker that it is done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdwise.errors import InputError
from crowdwise.files import append_text, sweep, write_text


@dataclass(frozen=True)
class Run:
    """config.json, metrics.jsonl, model.safetensors, consensus, annotators, report.html, done.

    The same training gives the same bytes, so the time it took is in a file of its own,
    times.jsonl. A run that is not finished may hold its latest state in checkpoint/.

    Example:
        >>> import tempfile
        >>> run = Run.create(Path(tempfile.mkdtemp()) / "run", {"method": "ccc"})
        >>> run.log({"epoch": 1, "loss": 0.5})
        >>> run.finish()
        >>> Run.open(run.folder).history
        [{'epoch': 1, 'loss': 0.5}]
    """

    folder: Path

    @classmethod
    def create(cls, folder: str | Path, config: Mapping[str, Any]) -> Run:
        """Start a run in a folder that is new, empty, or holds an unfinished run.

        A run that can go on from a checkpoint is work done: it is not begun anew unasked.
        """
        run = cls(Path(folder))
        if run.done:
            raise InputError(f"{folder}: holds a finished run; name another folder or remove it")
        if run.checkpoint.exists():
            raise InputError(
                f"{folder}: holds a run that was cut off and can go on; add --resume, or remove "
                "the folder to begin anew"
            )
        run._begin(config)
        for path in (run._metrics, run._times):
            path.unlink(missing_ok=True)
        return run

    @classmethod
    def resume(cls, folder: str | Path, config: Mapping[str, Any]) -> Run:
        """Take up the run in a folder, finished or not; begin it where there is none."""
        run = cls(Path(folder))
        if not run._config.is_file():
            return run._begin(config)
        then, now = run.config, json.loads(json.dumps(config))
        if then != now:
            raise InputError(f"{folder}: that run was begun with {_difference(then, now)}")
        return run if run.done else run._begin(config)

    def _begin(self, config: Mapping[str, Any]) -> Run:
        folder = self.folder
        if folder.is_dir():
            sweep(folder)
            if any(folder.iterdir()) and not self._config.exists():
                raise InputError(f"{folder}: is not empty and holds no run; name another folder")
        elif folder.exists():
            raise InputError(f"{folder}: is a file; name a folder for the run")
        if self.checkpoint.is_symlink():  # of a run from elsewhere: it may point anywhere
            raise InputError(f"{self.checkpoint}: is a link; remove it")
        write_text(self._config, json.dumps(config, indent=1, sort_keys=True) + "\n")
        return self

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        """Look at a run that exists."""
        run = cls(Path(folder))
        if not run._config.is_file():
            raise InputError(f"{folder}: there is no config.json; name a folder written by a run")
        return run

    @property
    def done(self) -> bool:
        return (self.folder / "done").is_file()

    @property
    def config(self) -> dict[str, Any]:
        return _object(self._config, _text(self._config))

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def history(self) -> list[dict[str, Any]]:
        """One record per epoch, its seconds included; a line cut off by a kill is left out."""
        records = _lines(self._metrics)
        for record, time in zip(records, _lines(self._times), strict=False):
            record |= {"seconds": time["seconds"]} if "seconds" in time else {}
        return records

    def log(self, record: Mapping[str, Any]) -> None:
        """Append one record to metrics.jsonl, its seconds to times.jsonl.

        A resumed training tells its epochs from the first on: that one begins the files anew.
        """
        write = write_text if record.get("epoch") == 1 else append_text
        said = dict(record)
        seconds = said.pop("seconds", None)
        write(self._metrics, json.dumps(said) + "\n")
        if seconds is not None:
            write(self._times, json.dumps({"seconds": seconds}) + "\n")

    def finish(self) -> None:
        """Mark the run as done; only now are its files taken as results."""
        write_text(self.folder / "done", "")

    @property
    def _config(self) -> Path:
        return self.folder / "config.json"

    @property
    def _metrics(self) -> Path:
        return self.folder / "metrics.jsonl"

    @property
    def _times(self) -> Path:
        return self.folder / "times.jsonl"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); the run is damaged") from error


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    lines = _text(path).split("\n")[:-1]
    return [_object(path, line) for line in lines]


def _difference(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The first value in which two configs differ, in words."""
    name = next(name for name in sorted({*then, *now}) if then.get(name) != now.get(name))
    before, after = then.get(name), now.get(name)
    if isinstance(before, dict) and isinstance(after, dict):
        return _difference(before, after)
    return (
        f"{name}={before!r:.60}, not {after!r:.60}; give what it was begun with, or name another "
        "folder"
    )


def _object(path: Path, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}); the run is damaged") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: holds {type(value).__name__}, not an object; it is damaged")
    return value
