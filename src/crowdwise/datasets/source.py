"""Where a data set's files are, and reading them so that a bad one is named."""

import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from crowdwise.errors import InputError

VARIABLE = "CROWDWISE_DATA"
Root = str | Path | None


def folder(root: Root, name: str) -> Path:
    """The folder `name` under `root`, or under CROWDWISE_DATA where root is None."""
    place = root or os.environ.get(VARIABLE)
    if not place:
        raise InputError(
            f"the data set's files are not here: set {VARIABLE}, or give root=, "
            f"to the folder that holds {name}/"
        )
    path = Path(place).expanduser() / name
    if not path.is_dir():
        raise InputError(
            f"{path}: there is no such folder; set {VARIABLE}, or give root=, "
            f"to the folder that holds {name}/"
        )
    return path


@contextmanager
def reading(path: Path) -> Iterator[Path]:
    """Turn whatever a missing or damaged file raises into one sentence that names it."""
    if not path.is_file():
        raise InputError(f"{path}: the data set needs this file, and it is not there")
    try:
        yield path
    except InputError:
        raise
    except (OSError, ValueError, KeyError, EOFError, SyntaxError, BadZipFile, zlib.error) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{path}: damaged, or not the file it should be ({reason}); get it again"
        ) from error


def npz(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    """The named arrays of a NumPy archive, each of the shape it must have; never pickles."""
    with reading(path), path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = {}
        for name, shape in shapes.items():
            arrays[name] = archive[name]
            check_shape(path, name, arrays[name], shape)
    return arrays


def check_shape(path: Path, name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise InputError(
            f"{path}: {name} has shape {array.shape}, it should be {shape}; get the file again"
        )


def codes(path: Path, name: str, values: NDArray[Any], below: int) -> NDArray[np.int64]:
    """Integer codes as int64, checked to lie from 0 to `below` - 1."""
    if values.size and (values.min() < 0 or values.max() >= below):
        raise InputError(
            f"{path}: {name} holds {values.min()} to {values.max()}, codes from 0 to {below - 1} "
            "were expected; get the file again"
        )
    return values.astype(np.int64)
