"""A run is a folder: config, metrics line by line, results, and a marker that it is done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdwise.errors import InputError
from crowdwise.files import write_text


@dataclass(frozen=True)
class Run:
    """config.json, metrics.jsonl, model.safetensors, consensus, annotators, report.html, done.

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
        """Start a run in a folder that is new, empty, or holds an unfinished run."""
        run = cls(Path(folder))
        if run.done:
            raise InputError(f"{folder}: holds a finished run; name another folder or remove it")
        if run.folder.is_dir() and any(run.folder.iterdir()) and not run._config.exists():
            raise InputError(f"{folder}: is not empty and holds no run; name another folder")
        if run.folder.exists() and not run.folder.is_dir():
            raise InputError(f"{folder}: is a file; name a folder for the run")
        write_text(run._config, json.dumps(config, indent=1, sort_keys=True) + "\n")
        run._metrics.unlink(missing_ok=True)
        return run

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
        return _object(self._config, self._config.read_text(encoding="utf-8"))

    @property
    def history(self) -> list[dict[str, Any]]:
        """One record per epoch; a line cut off by a kill is left out."""
        if not self._metrics.exists():
            return []
        lines = self._metrics.read_text(encoding="utf-8").split("\n")[:-1]
        return [_object(self._metrics, line) for line in lines]

    def log(self, record: Mapping[str, Any]) -> None:
        """Append one record to metrics.jsonl."""
        with self._metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def finish(self) -> None:
        """Mark the run as done; only now are its files taken as results."""
        write_text(self.folder / "done", "")

    @property
    def _config(self) -> Path:
        return self.folder / "config.json"

    @property
    def _metrics(self) -> Path:
        return self.folder / "metrics.jsonl"


def _object(path: Path, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: is not JSON ({error}); the run is damaged") from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: holds {type(value).__name__}, not an object; it is damaged")
    return value
