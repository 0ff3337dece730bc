"""CIFAR-10: 60,000 photographs of 32×32 pixels, ten classes (Krizhevsky, 2009).

Two forms are read from the folder `cifar10`: the binary batches (one byte of label, then 3,072
bytes of red, green and blue, per image), or PNG sprites (one row per image, 1,024 RGB pixels) with
the labels in JSON.
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdwise.datasets.dataset import Dataset, first_of_each_class, shares
from crowdwise.datasets.source import Root, codes, folder, reading
from crowdwise.errors import InputError

CLASSES = np.array(
    [
        "airplane",
        "automobile",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    ]
)
TRAIN_BATCHES = [f"data_batch_{k}" for k in range(1, 6)]
TRAIN, TEST = 50_000, 10_000
TRAIN_SHARE = 0.9  # the first 4,500 of each class train, the others validate

Pixels = NDArray[np.uint8]  # (N, 3, 32, 32)
Labels = NDArray[np.int64]


def load(root: Root) -> Dataset:
    """The pixels with the truth; the crowd must be simulated."""
    x, y, x_test, y_test = pixels(folder(root, "cifar10"))
    train = first_of_each_class(y, TRAIN_SHARE)
    return Dataset(
        "cifar10",
        CLASSES,
        shares(x[train]),
        y[train],
        shares(x_test),
        y_test,
        x_valid=shares(x[~train]),
        y_valid=y[~train],
        info={"train_rows": np.flatnonzero(train), "valid_rows": np.flatnonzero(~train)},
    )


def pixels(place: Path) -> tuple[Pixels, Labels, Pixels, Labels]:
    """Training images, their classes, test images, their classes, in CIFAR-10's order."""
    if (place / "test_batch.bin").exists():
        parts = [read_bin(place / f"{name}.bin") for name in [*TRAIN_BATCHES, "test_batch"]]
        images, labels = zip(*parts, strict=True)
        x, y = np.concatenate(images[:-1]), np.concatenate(labels[:-1])
        x_test, y_test = images[-1], labels[-1]
    else:
        x = np.concatenate([read_sprites(place / f"{name}.png") for name in TRAIN_BATCHES])
        x_test = read_sprites(place / "test_batch.png")
        y, y_test = (_read_json(place / f"{part}_lables.json") for part in ("train", "test"))
    if (len(x), len(y), len(x_test), len(y_test)) != (TRAIN, TRAIN, TEST, TEST):
        raise InputError(
            f"{place}: {len(x)} training images with {len(y)} labels and {len(x_test)} test images "
            f"with {len(y_test)} labels; CIFAR-10 has {TRAIN} and {TEST}; get the files again"
        )
    return x, y, x_test, y_test


def read_bin(path: Path) -> tuple[Pixels, Labels]:
    """One binary batch."""
    with reading(path):
        rows = np.fromfile(path, dtype=np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    labels = codes(path, "the first byte of an image", rows[:, 0], len(CLASSES))
    return rows[:, 1:].reshape(-1, 3, 32, 32), labels


def read_sprites(path: Path) -> Pixels:
    """One PNG, a row per image."""
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError(
            f"{path}: reading PNG files needs Pillow; install crowdwise[images]"
        ) from error
    with reading(path), Image.open(path) as sprites:
        rows = np.asarray(sprites.convert("RGB")).reshape(-1, 32, 32, 3)
    return np.ascontiguousarray(rows.transpose(0, 3, 1, 2))


def _read_json(path: Path) -> Labels:
    with reading(path):
        labels = np.array(json.loads(path.read_text(encoding="utf-8")), dtype=np.int64)
    return codes(path, "the list", labels, len(CLASSES))
