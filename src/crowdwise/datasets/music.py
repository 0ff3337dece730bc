"""MUSIC: 1,000 pieces of music, ten genres, 44 annotators (Rodrigues et al., 2013)."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdwise.datasets.dataset import Dataset, crowd
from crowdwise.datasets.source import Root, check_shape, folder, reading
from crowdwise.errors import InputError

FEATURES = [f"feature{k}" for k in range(124)]


def load(root: Root) -> Dataset:
    """Features standardised by the mean and deviation of the training pieces."""
    return _load(root, "music", standardise=True)


def load_raw(root: Root) -> Dataset:
    """Features as they are in the file."""
    return _load(root, "music-raw", standardise=False)


def _load(root: Root, name: str, standardise: bool) -> Dataset:
    place = folder(root, "music")
    gold = _table(place / "music_genre_gold.csv", ["id", *FEATURES, "class"])
    heard = _table(place / "music_genre_mturk.csv", ["id", "annotator", "class"])
    test = _table(place / "music_genre_test.csv", ["id", *FEATURES, "class"])

    classes = np.unique(gold["class"].to_numpy()).astype(str)
    x_train, x_test = gold.select(FEATURES).to_numpy(), test.select(FEATURES).to_numpy()
    check_shape(place / "music_genre_gold.csv", "the table", x_train, (700, 124))
    check_shape(place / "music_genre_test.csv", "the table", x_test, (300, 124))
    if standardise:
        mean, deviation = x_train.mean(0), x_train.std(0)
        x_train, x_test = (x_train - mean) / deviation, (x_test - mean) / deviation

    annotator_ids, annotator = np.unique(
        heard["annotator"].to_numpy().astype(str), return_inverse=True
    )
    pieces, mturk = gold["id"].to_numpy().astype(str), place / "music_genre_mturk.csv"
    annotations = crowd(
        item=_places(mturk, "id", heard, pieces),
        annotator=annotator,
        label=_places(mturk, "class", heard, classes),
        n_items=len(pieces),
        annotator_ids=annotator_ids,
        classes=classes,
    )
    return Dataset(
        name,
        classes,
        x_train.astype(np.float32),
        _places(place / "music_genre_gold.csv", "class", gold, classes),
        x_test.astype(np.float32),
        _places(place / "music_genre_test.csv", "class", test, classes),
        annotations,
        info={"pieces": pieces},
    )


def _table(path: Path, columns: list[str]) -> pl.DataFrame:
    types = {name: pl.Float64 if name in FEATURES else pl.String for name in columns}
    with reading(path):
        try:
            table = pl.read_csv(path, columns=columns, schema_overrides=types)
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error).partition("\n")[0]) from error
    if table.null_count().sum_horizontal().item():
        raise InputError(f"{path}: a value is missing; get the file again")
    return table


def _places(path: Path, column: str, table: pl.DataFrame, known: NDArray[Any]) -> NDArray[np.int64]:
    """Where each value of the column stands in `known`."""
    values = table[column].to_numpy().astype(str)
    order = np.argsort(known)
    found = np.searchsorted(known, values, sorter=order)
    places: NDArray[np.int64] = order[found.clip(max=len(known) - 1)]
    strange = np.flatnonzero(known[places] != values)
    if len(strange):
        raise InputError(
            f"{path}, row {strange[0] + 2}: {column} {str(values[strange[0]])!r} is not one of the "
            "training pieces' own; get the file again"
        )
    return places
