"""Finished cells, one line of JSON each; running again runs only what is not there yet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any

from crowdwise.errors import InputError
from crowdwise.files import append_text, write_text
from crowdwise.reproduce.cells import Cell, run_cell

Line = dict[str, Any]


def read(path: Path) -> dict[str, Line]:
    """Finished cells by key; a last line cut off by a kill does not count."""
    if not path.exists():
        return {}
    lines = {}
    for number, text in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], start=1):
        try:
            line = json.loads(text)
            lines[line["key"]] = line
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}: is no finished cell; remove it") from error
    return lines


def run(
    cells: Sequence[Cell],
    path: Path,
    jobs: int = 1,
    on_line: Callable[[Line], None] | None = None,
) -> list[Line]:
    """Run what `path` does not hold yet, in parallel processes; lines in the order of `cells`.

    A cell that was cut off goes on from its checkpoint, kept beside the ledger until it is done.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _drop_cut_line(path)
    finished = read(path)
    states = path.parent / "checkpoints"
    for line in _results(missing(cells, finished), states, jobs):
        _append(path, line)
        rmtree(states / line["key"], ignore_errors=True)
        finished[line["key"]] = line
        if on_line:
            on_line(line)
    with suppress(OSError):  # others' cells may be in it
        states.rmdir()
    return [finished[cell.key] | {"label": cell.label} for cell in cells]


def finished(cells: Sequence[Cell], path: Path) -> list[Line]:
    """The lines of those cells that `path` holds; none is an error, since a table needs some."""
    known = read(path)
    lines = [known[cell.key] | {"label": cell.label} for cell in cells if cell.key in known]
    if not lines:
        raise InputError(f"{path}: none of these {len(cells)} runs is finished; run some first")
    return lines


def rehearse(cells: Sequence[Cell], steps: int) -> Iterator[str]:
    """Train every cell for `steps` batches before and after the warm-up; nothing is kept."""
    if steps < 1:
        raise InputError(f"--rehearse is {steps}; it must be at least 1")
    for cell in cells:
        yield describe(run_cell(cell, steps=steps))


def missing(cells: Sequence[Cell], finished: Mapping[str, Line]) -> list[Cell]:
    """What is still to run, each key once."""
    return list({cell.key: cell for cell in cells if cell.key not in finished}.values())


def merge(path: Path, other: Path, cells: Sequence[Cell]) -> int:
    """Take over another ledger's lines for these cells; returns how many were new."""
    if not other.is_file():
        raise InputError(f"{other}: there is no such file of finished runs; check the name")
    path.parent.mkdir(parents=True, exist_ok=True)
    _drop_cut_line(path)
    known = read(other)
    new = [known[cell.key] for cell in missing(cells, read(path)) if cell.key in known]
    for line in new:
        _append(path, line)
    return len(new)


def describe(line: Line) -> str:
    """A finished run in a few words."""
    return f"{Cell(**line['cell'])}: last {line['paired']['last']:.2f}"


def _append(path: Path, line: Line) -> None:
    append_text(path, json.dumps(line) + "\n")


def _results(cells: Sequence[Cell], states: Path, jobs: int) -> Iterator[Line]:
    if jobs == 1 or len(cells) < 2:
        yield from (run_cell(cell, state=states / cell.key) for cell in cells)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(delayed(run_cell)(cell, state=states / cell.key) for cell in cells)


def _drop_cut_line(path: Path) -> None:
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        write_text(path, whole)
