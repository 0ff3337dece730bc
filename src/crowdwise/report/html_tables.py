"""What the report reads: a run folder with the crowd beside the results, without torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.annotations.parquet import whole_table
from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError
from crowdwise.results.run import Run

_SHOWN = 100  # characters of a name; longer ones end in … on the page


@dataclass(frozen=True)
class Findings:
    """A finished run as the report sees it; consensus and annotators are rows along the crowd."""

    run: Run
    config: dict[str, Any]
    classes: list[str]
    consensus: pl.DataFrame  # (N) rows
    annotators: pl.DataFrame  # (R) rows
    crowd: Annotations  # row numbers as ids
    confusions: NDArray[np.float32]  # (R, C, C), row = true class, column = label given

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Which group each annotator is in, (R,), where the method has groups."""
        if "group" not in self.annotators.columns:
            return None
        return self.annotators["group"].cast(pl.Int64).fill_null(-1).to_numpy()


def label_table(annotations: Annotations) -> pl.DataFrame:
    """The crowd's labels as they stand in a run folder, labels.parquet.

    item and annotator are row numbers of consensus.parquet and annotators.parquet, label is a
    place in the classes of config.json.

    Example:
        >>> crowd = Annotations.from_triples([7, 9], ["ann", "bob"], ["no", "yes"])
        >>> label_table(crowd).rows()
        [(0, 0, 0), (1, 1, 1)]
    """
    codes = ("item", "annotator", "label")
    return pl.DataFrame({name: getattr(annotations, name) for name in codes})


def collect(folder: str | Path) -> Findings:
    """Read a finished run folder."""
    run = Run.open(folder)
    if not run.done:
        raise InputError(f"{folder}: the run is not finished; let it end, or train again")
    config = run.config
    frames = {name: _read(run, name) for name in ("consensus", "annotators", "labels")}
    try:
        classes = [shown(name) for name in config["classes"]]
        size = len(classes)
        crowd = Annotations(
            frames["labels"]["item"].to_numpy(),
            frames["labels"]["annotator"].to_numpy(),
            frames["labels"]["label"].to_numpy(),
            np.arange(len(frames["consensus"])),
            np.arange(len(frames["annotators"])),
            np.arange(size),
        )
        confusions = frames["annotators"]["confusion"].to_numpy().reshape(-1, size, size)
        frames["consensus"].select("item", "label", "probability")
        frames["annotators"].select("annotator", "labels", "accuracy")
        if len(confusions) != crowd.n_annotators:
            raise ValueError(f"{len(confusions)} confusions, {crowd.n_annotators} annotators")
    except (KeyError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{folder}: its tables do not fit together ({error})") from error
    annotators = frames["annotators"].drop("confusion")
    return Findings(run, config, classes, frames["consensus"], annotators, crowd, confusions)


def shown(value: Any, most: int = _SHOWN) -> str:
    """A user's value as the page shows it: text of bounded length that can be written as UTF-8."""
    text = str(value).encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= most else text[: most - 1] + "…"


def _read(run: Run, name: str) -> pl.DataFrame:
    path = run.folder / f"{name}.parquet"
    if not path.is_file():
        raise InputError(
            f"{path}: is not there; the report needs it: run `crowdwise fit` again, with this "
            "version"
        )
    try:
        return whole_table(path)
    except InputError:
        raise
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InputError(f"{path}: cannot be read ({error}); the run is damaged") from error
