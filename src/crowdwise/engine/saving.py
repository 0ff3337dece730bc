"""A trained method as a run folder, and back: safetensors, JSON and Parquet, never code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from crowdwise.errors import InputError
from crowdwise.files import whole
from crowdwise.results.run import Run

FRAMES = ("consensus", "annotators")


@dataclass(frozen=True)
class Saved:
    """What a run folder holds."""

    run: Run
    frames: dict[str, pl.DataFrame]

    def load_into(self, model: nn.Module) -> None:
        """Put the weights into a model built from the same config."""
        path = self.run.folder / "model.safetensors"
        try:
            weights = load_file(path)
        except (OSError, SafetensorError, ValueError) as error:
            raise InputError(f"{path}: holds no readable weights ({error})") from error
        wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
        found = {name: tuple(value.shape) for name, value in weights.items()}
        if wanted != found:
            strange = sorted(set(wanted.items()) ^ set(found.items()))[0][0]
            raise InputError(
                f"{path}: {strange} is {found.get(strange, 'missing')}, but config.json asks for "
                f"{wanted.get(strange, 'no such weight')}; the run is damaged"
            )
        model.load_state_dict(weights)


def write_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """A state dict as safetensors, whole or not at all; the same weights give the same bytes."""
    plain = {name: value.detach().cpu().contiguous() for name, value in weights.items()}
    with whole(path) as temporary:
        save_file(plain, temporary)


def write_run(run: Run, weights: Mapping[str, Tensor], frames: Mapping[str, pl.DataFrame]) -> None:
    """Write weights and tables into a run's folder and mark it done."""
    write_weights(run.folder / "model.safetensors", weights)
    for name in FRAMES:
        with whole(run.folder / f"{name}.parquet") as temporary:
            frames[name].write_parquet(temporary)
    run.finish()


def read_run(folder: str | Path) -> Saved:
    """Open a finished run."""
    run = Run.open(folder)
    if not run.done:
        raise InputError(f"{folder}: the run is not finished; let it end, or train again")
    frames = {}
    for name in FRAMES:
        path = run.folder / f"{name}.parquet"
        try:
            frames[name] = pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{path}: cannot be read ({error}); the run is damaged") from error
    return Saved(run, frames)
