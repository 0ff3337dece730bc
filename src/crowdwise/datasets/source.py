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


def cache() -> Path:
    """The user's cache, where `crowdwise data get` puts files."""
    from platformdirs import user_cache_path

    return user_cache_path("crowdwise", appauthor=False) / "data"


def local() -> Path | None:
    """The folder that CROWDWISE_DATA names."""
    place = os.environ.get(VARIABLE)
    return Path(place).expanduser() if place else None


def look(name: str) -> Path | None:
    """The folder `name`, where it is: under CROWDWISE_DATA, or else in the cache."""
    places = (place / name for place in (local(), cache()) if place)
    return next((place for place in places if place.is_dir()), None)


def folder(root: Root, name: str) -> Path:
    """The folder `name` under `root`; where root is None, under CROWDWISE_DATA or in the cache."""
    path = Path(root).expanduser() / name if root else look(name)
    if path and path.is_dir():
        return path
    what = path or (local() and f"{local()}/{name}")
    problem = f"{what}: there is no such folder" if what else "the data set's files are not here"
    raise InputError(
        f"{problem}; run crowdwise data get, or set {VARIABLE}, or give root=, to the folder that "
        f"holds {name}/"
    )


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
