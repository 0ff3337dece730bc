"""A folder of images as a data set of tensors: decoded when asked for, never all at once."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from crowdwise.batches.source import StreamSource
from crowdwise.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

ROOM = 2**30  # bytes of decoded images that are kept in memory
ORIENTATION = 0x0112  # EXIF's tag
GREY = ("1", "L", "LA", "I", "I;16", "I;16B", "F")
ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")


class ImageFolder(Dataset[Tensor]):
    """Images by item: item "cat-7" is the file cat-7.png (or .jpg, …), in the order of `items`.

    Args:
        folder: where the files lie; an item may name a file below it, "cats/7.png".
        items: names of files, with or without their ending, such as `annotations.item_ids`;
            every image below the folder, sorted, when None.
        size: height and width to scale to; None takes the images as they are, all of one size.
        mode: "RGB" gives three channels, "L" one.
    """

    def __init__(
        self,
        folder: str | Path,
        items: Sequence[Any] | np.ndarray | None = None,
        size: tuple[int, int] | None = None,
        mode: Literal["RGB", "L"] = "RGB",
    ) -> None:
        self.folder = Path(folder)
        self.size = size
        self.mode = mode
        if not self.folder.is_dir():
            raise InputError(f"{folder}: is no folder; name the one that holds the images")
        below = [path.relative_to(self.folder) for path in sorted(self.folder.rglob("*"))]
        there = [path for path in below if path.suffix.lower() in ENDINGS]
        self.files = there if items is None else self._named([str(item) for item in items], there)
        if not self.files:
            raise InputError(f"{folder}: there is no image to read ({', '.join(ENDINGS)})")
        self.shape = self._decode(0).shape

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Tensor:
        """One image, (channels, height, width), from 0 to 1."""
        image = self._decode(index)
        if image.shape != self.shape:
            raise InputError(
                f"{self.folder / self.files[index]}: is {_size(image)} pixels, but "
                f"{self.files[0]} is {_size(self.shape)}; give a size to scale all images to "
                "(--image-size)"
            )
        return torch.from_numpy(image)

    def names(self, known: Iterable[Any] = ()) -> list[str]:
        """What each image's item is called: its path, with or without the ending, as in `known`."""
        said = {str(item) for item in known}
        with_ending = any(name.lower().endswith(ENDINGS) for name in said)
        named = []
        for path in self.files:
            whole, bare = path.as_posix(), path.with_suffix("").as_posix()
            likely, other = (whole, bare) if with_ending else (bare, whole)
            named.append(other if other in said and likely not in said else likely)
        return named

    def _named(self, items: Sequence[str], there: Sequence[Path]) -> list[Path]:
        files = defaultdict(list)
        for path in there:
            files[path.as_posix()].append(path)
            files[path.with_suffix("").as_posix()].append(path)
        for item in items:
            if len(files.get(item, [])) != 1:
                found = ", ".join(map(str, files.get(item, []))) or "no image of that name"
                raise InputError(
                    f"item {item}: {self.folder} holds {found}; there must be one, "
                    f"ending in {', '.join(ENDINGS)}"
                )
        return [files[item][0] for item in items]

    def _decode(self, index: int) -> np.ndarray:
        with self._opened(index) as image:
            return _values(image, self.size, self.mode)

    @contextmanager
    def _opened(self, index: int) -> Iterator[Image]:
        image_module = _pillow()
        path = self.folder / self.files[index]
        try:
            with image_module.open(path) as image:
                yield image
        except (OSError, SyntaxError, ValueError, image_module.DecompressionBombError) as error:
            raise InputError(
                f"{path}: cannot be read as an image ({error}); replace it or drop the item"
            ) from error


def peek(folder: ImageFolder, most: int = 64) -> tuple[list[tuple[int, int]], bool]:
    """The heights and widths of some images, by number of pixels, and whether all are grey."""
    sizes, grey = set(), True
    for index in np.unique(np.linspace(0, len(folder) - 1, most).astype(int)).tolist():
        with folder._opened(index) as image:
            turned = image.getexif().get(ORIENTATION, 1) >= 5  # the camera lay on its side
            sizes.add(image.size if turned else image.size[::-1])
            grey = grey and image.mode in GREY
    return sorted(sizes, key=lambda size: (size[0] * size[1], size)), grey


def decoded(folder: ImageFolder, room: int = ROOM) -> np.ndarray | StreamSource:
    """All images as one array where there is room; else a stream, read by worker processes."""
    if len(folder) * int(np.prod(folder.shape)) * 4 > room:
        return StreamSource(folder, workers=min(8, os.cpu_count() or 1))
    return np.stack([folder[index].numpy() for index in range(len(folder))])


def _values(image: Image, size: tuple[int, int] | None, mode: str) -> np.ndarray:
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(image)
    if upright.mode.startswith("I"):  # 16 bits of grey, which Pillow would clip to 8
        grey = np.asarray(upright, dtype=np.float32) * np.float32(255 / 65535)
        upright = _pillow().fromarray(grey).convert("L")
    upright = upright.convert(mode)
    if size is not None:
        upright = upright.resize((size[1], size[0]), _pillow().Resampling.BILINEAR)
    values = np.asarray(upright, dtype=np.float32) / 255
    return values[None] if values.ndim == 2 else np.ascontiguousarray(values.transpose(2, 0, 1))


def _size(image: np.ndarray | tuple[int, ...]) -> str:
    shape = image.shape if isinstance(image, np.ndarray) else image
    return f"{shape[1]}×{shape[2]}"


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError(
            "reading images takes Pillow; install it with: pip install 'crowdwise[images]'"
        ) from error
    return Image
