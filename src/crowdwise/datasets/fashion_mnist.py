"""Fashion-MNIST: 70,000 pictures of clothes, 28×28 grey pixels, ten classes (Xiao et al., 2017).

The first 5,400 of each class train, the next 600 validate. The crowd must be simulated.
"""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.datasets.dataset import Dataset, first_of_each_class, shares
from crowdwise.datasets.source import Root, check_shape, codes, folder, reading

CLASSES = np.array(
    [
        "T-shirt/top",
        "trouser",
        "pullover",
        "dress",
        "coat",
        "sandal",
        "shirt",
        "sneaker",
        "bag",
        "ankle boot",
    ]
)
TRAIN_SHARE = 0.9


def load(root: Root) -> Dataset:
    """Pictures (N, 1, 28, 28), float32 from 0 to 1, with the truth."""
    place = folder(root, "fashion-mnist")
    x, y = _images(place / "train-images-idx3-ubyte.gz", 60_000), _labels(place, "train", 60_000)
    train = first_of_each_class(y, TRAIN_SHARE)
    return Dataset(
        "fashion-mnist",
        CLASSES,
        x[train],
        y[train],
        _images(place / "t10k-images-idx3-ubyte.gz", 10_000),
        _labels(place, "t10k", 10_000),
        x_valid=x[~train],
        y_valid=y[~train],
        info={"train_rows": np.flatnonzero(train), "valid_rows": np.flatnonzero(~train)},
    )


def _images(path: Path, count: int) -> NDArray[np.float32]:
    pixels = read_idx(path)
    check_shape(path, "the file", pixels, (count, 28, 28))
    return shares(pixels[:, None])


def _labels(place: Path, part: str, count: int) -> NDArray[np.int64]:
    path = place / f"{part}-labels-idx1-ubyte.gz"
    labels = read_idx(path)
    check_shape(path, "the file", labels, (count,))
    return codes(path, "the file", labels, len(CLASSES))


def read_idx(path: Path) -> NDArray[Any]:
    """A gzipped idx file of bytes: 0, 0, 8, the number of axes, each axis as four bytes, values."""
    with reading(path):
        data = gzip.decompress(path.read_bytes())
        if data[:3] != b"\0\0\x08":
            raise ValueError("it does not begin as an idx file of bytes does")
        start = 4 + 4 * data[3]
        shape = np.frombuffer(data[4:start], dtype=">i4")
        return np.frombuffer(data, np.uint8, offset=start).reshape(shape)
