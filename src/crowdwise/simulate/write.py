"""A crowd goes to disk block by block: memory stays O(items + annotators), whatever k is.

CSV is appended to. Parquet wants its footer last, and polars appends to no Parquet file, so
every block becomes a part beside the target, and polars' streaming engine then copies the parts
into one file with row groups of a fixed size. The detour costs a second write; it needs nothing
but polars' stable interface, and its bytes do not depend on the number of threads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

import numpy as np

from crowdwise.errors import InputError
from crowdwise.files import whole
from crowdwise.simulate.plan import Plan

if TYPE_CHECKING:
    import polars as pl

_ROWS_PER_GROUP = 1 << 18


@dataclass
class Tally:
    """What a crowd turned out like, counted as it streams past."""

    n_items: int
    n_annotators: int
    n_labels: int = 0
    wrong_labels: int = 0
    items_all_wrong: int = 0
    annotators_up_to_20: int = 0

    @property
    def nr1(self) -> float:
        """Share of items that no label gets right."""
        return self.items_all_wrong / self.n_items

    @property
    def nr2(self) -> float:
        """Share of labels that are wrong."""
        return self.wrong_labels / self.n_labels


def write_crowd(plan: Plan, path: str | Path, item_ids: pl.Series | None = None) -> Tally:
    """Write item, annotator, label to .csv or .parquet (`-`: CSV to stdout), block by block."""
    tally = Tally(plan.n_items, plan.n_annotators)
    frames = _frames(plan, item_ids, tally)
    if str(path) == "-":
        _write_csv(frames, sys.stdout.buffer)
        return tally
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise InputError(f"{target}: a crowd is written as .csv or .parquet; choose one of these")
    with whole(target) as temporary:
        if target.suffix == ".csv":
            with temporary.open("wb") as file:
                _write_csv(frames, file)
        else:
            _write_parquet(frames, temporary)
    return tally


def write_annotators(plan: Plan, path: str | Path) -> None:
    """Write annotator, pattern, reference (empty: follows nobody) and weight as .csv."""
    import polars as pl

    if Path(path).suffix != ".csv":
        raise InputError(f"{path}: annotators are written as .csv; choose such a name")
    names = pl.Series("pattern", [pattern.name for pattern in plan.patterns])
    frame = pl.DataFrame(
        [
            pl.Series("annotator", np.arange(plan.n_annotators)),
            names.gather(plan.group),
            pl.Series("reference", [None if r < 0 else int(r) for r in plan.reference], pl.Int32),
            pl.Series("weight", plan.weight),
        ]
    )
    with whole(path) as temporary:
        frame.write_csv(temporary)


def _write_csv(frames: Iterator[pl.DataFrame], file: IO[bytes]) -> None:
    for number, frame in enumerate(frames):
        frame.write_csv(file, include_header=number == 0)


def _write_parquet(frames: Iterator[pl.DataFrame], path: Path) -> None:
    import polars as pl

    with TemporaryDirectory(prefix=f"{path.name}.", dir=path.parent) as folder:
        parts = []
        for number, frame in enumerate(frames):
            parts.append(Path(folder) / f"{number:08d}.parquet")
            frame.write_parquet(parts[-1], compression="lz4")
        pl.scan_parquet(parts).sink_parquet(path, row_group_size=_ROWS_PER_GROUP)


def _frames(plan: Plan, item_ids: pl.Series | None, tally: Tally) -> Iterator[pl.DataFrame]:
    import polars as pl

    classes = pl.Series("label", plan.classes)
    given = np.zeros(plan.n_annotators, dtype=np.int64)
    for item, annotator, label in plan.blocks():
        wrong = label != plan.truth[item][:, None]
        tally.n_labels += label.size
        tally.wrong_labels += int(wrong.sum())
        tally.items_all_wrong += int(wrong.all(axis=1).sum())
        given += np.bincount(annotator.ravel(), minlength=plan.n_annotators)
        rows = pl.Series("item", np.repeat(item, plan.k))
        yield pl.DataFrame(
            [
                rows if item_ids is None else item_ids.gather(rows),
                pl.Series("annotator", annotator.ravel()),
                classes.gather(label.ravel()),
            ]
        )
    tally.annotators_up_to_20 = int((given <= 20).sum())
