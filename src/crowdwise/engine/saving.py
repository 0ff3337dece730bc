"""A trained method as a run folder, and back: safetensors, JSON and Parquet, never code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from errno import ENOENT
from pathlib import Path
from typing import Any

import polars as pl
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)

from crowdwise.engine.config import Config, damaged
from crowdwise.errors import InputError
from crowdwise.files import refuse_bomb, whole
from crowdwise.results.run import Run

FRAMES = {  # what a run folder holds as <name>.parquet, and the columns read from it
    "consensus": ("item", "label", "probability"),
    "annotators": ("annotator", "confusion"),
    "labels": ("item", "annotator", "label"),
}
COMPUTES = (DataDependentOutputException, DynamicOutputShapeException)
Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Saved:
    """What a finished run's folder holds, the weights not yet read."""

    folder: Path
    config: Config
    history: list[dict[str, Any]]
    frames: dict[str, pl.DataFrame]
    confusions: NDArray[Any]  # (R, C, C)
    shapes: Shapes  # of the weights

    def check(self, build: Callable[[], nn.Module]) -> None:
        """Refuse weights that are not those of the model `build` makes.

        The model is made of shapes without memory: a config may ask for any size, at no cost.
        """
        try:
            with FakeTensorMode():
                model = build()
        except COMPUTES:  # as it is built; load_into checks what came of it
            return
        self._check(model)

    def load_into(self, model: nn.Module) -> None:
        """Put the weights into a model built from the same config."""
        self._check(model)
        weights = load_file(self._weights)
        for name, value in model.state_dict().items():
            if weights[name].dtype != value.dtype:
                raise InputError(
                    f"{self._weights}: {name} holds {weights[name].dtype}, not {value.dtype}; the "
                    "run is damaged, or this is not its net"
                )
        model.load_state_dict(weights)

    def _check(self, model: nn.Module) -> None:
        wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
        if wanted != self.shapes:
            strange = sorted(set(wanted.items()) ^ set(self.shapes.items()))[0][0]
            raise InputError(
                f"{self._weights}: {strange} is {self.shapes.get(strange, 'missing')}, but "
                f"config.json asks for {wanted.get(strange, 'no such weight')}; the run is "
                "damaged, or this is not its net"
            )

    @property
    def _weights(self) -> Path:
        return self.folder / "model.safetensors"


def write_weights(
    path: Path, weights: Mapping[str, Tensor], said: dict[str, str] | None = None
) -> None:
    """Tensors as safetensors, whole or not at all; the same weights give the same bytes.

    Args:
        said: texts for the file's header.
    """
    plain = {name: value.detach().cpu().contiguous() for name, value in weights.items()}
    with whole(path) as temporary:
        save_file(plain, temporary, said)


def write_run(
    run: Run,
    weights: Mapping[str, Tensor],
    frames: Mapping[str, pl.DataFrame],
    confusions: NDArray[Any],
) -> None:
    """Write weights and tables into a run's folder and mark it done.

    The confusions (R, C, C) are a column of annotators.parquet, row by row.
    """
    write_weights(run.folder / "model.safetensors", weights)
    flat = pl.Series("confusion", confusions.reshape(len(confusions), -1))
    written = {**frames, "annotators": frames["annotators"].with_columns(flat)}
    for name in FRAMES:
        with whole(run.folder / f"{name}.parquet") as temporary:
            written[name].write_parquet(temporary)
    run.finish()


def read_run(folder: str | Path) -> Saved:
    """Open a finished run."""
    run = Run.open(folder)
    if not run.done:
        raise InputError(f"{folder}: the run is not finished; let it end, or train again")
    try:
        config, history = Config.read(folder, run.config), run.history
    except InputError:
        raise
    except (OSError, ValueError, RecursionError) as error:  # not UTF-8, nested without end
        raise InputError(f"{folder}: cannot be read ({error}); the run is damaged") from error
    frames = {name: _frame(run.folder / f"{name}.parquet", cols) for name, cols in FRAMES.items()}
    annotators = frames["annotators"]
    if len(annotators) != config.annotators:
        rows = len(annotators)
        raise damaged(folder, f"{config.annotators} annotators, annotators.parquet has {rows}")
    shapes = _shapes(run.folder / "model.safetensors")
    if (n := config.settings.get("n_models", 1)) not in range(1, len(shapes) + 1):
        raise damaged(folder, f"n_models is {n!r}, model.safetensors has {len(shapes)} weights")
    kind, size = annotators["confusion"].dtype, len(config.classes)
    if not (isinstance(kind, pl.Array) and kind.inner.is_float() and kind.size == size**2):
        raise damaged(folder, f"{size} classes, confusions in annotators.parquet are {kind}")
    confusions = annotators["confusion"].to_numpy().reshape(-1, size, size)
    frames["annotators"] = annotators.drop("confusion")
    return Saved(run.folder, config, history, frames, confusions, shapes)


def _frame(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    try:
        if not path.is_file():
            raise FileNotFoundError(ENOENT, "no such file")
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        rows = scan.select(pl.len()).collect().item()
        refuse_bomb(path, 8 * rows, path.stat().st_size)
        frame = scan.collect()
    except InputError:
        raise
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InputError(f"{path}: cannot be read ({error}); the run is damaged") from error
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"{path}: there is no column {missing[0]!r}; the run is damaged")
    return frame


def _shapes(path: Path) -> Shapes:
    try:
        with safe_open(path, framework="pt") as weights:
            return {name: tuple(weights.get_slice(name).get_shape()) for name in weights.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError) as error:
        raise InputError(f"{path}: holds no readable weights ({error})") from error
