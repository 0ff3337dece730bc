"""Whatever describes the items, by what it is: numbers in a file, a folder of images, texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from crowdwise.batches.features import Features, read_features, read_texts
from crowdwise.batches.images import ImageFolder, decoded, peek
from crowdwise.batches.text import WORDS, WordVectors, sentence_vectors
from crowdwise.errors import InputError

LARGE = 128  # pixels; images with a longer side are scaled
SCALED = 64  # to so many, where the user says nothing else


def describe(
    path: str | Path,
    items: str | Path | None = None,
    item: str | None = None,
    strict: bool = False,
    known: Iterable[Any] = (),
    size: tuple[int, int] | None = None,
    mode: Literal["RGB", "L"] | None = None,
    embed: str | None = None,
    text: Sequence[str] | None = None,
    words: WordVectors | None = None,
) -> Features:
    """Features of any form that `fit` and `predict` take.

    Args:
        path: a file of numbers or texts, or a folder of images.
        items: for a matrix, a file with an id for each row.
        item: the column of a table that names the item; one with a usual name if there is none
            such, unless `strict`.
        known: items that people talk about, to name images as they do: with or without ending.
        size: height and width to scale images to; None leaves small ones as they are.
        mode: colours or grey; None looks at the images.
        embed: how texts become vectors: "tfidf", or a sentence encoder's name or folder.
        text: the columns of a table that hold the text.
        words: fitted before; None fits them to these texts.
    """
    if Path(path).is_dir():
        if items is not None or embed is not None:
            option = "--items" if items is not None else "--embed"
            raise InputError(f"{path}: images are named by their files; leave {option} out")
        return _images(path, known, size, mode)
    if size is not None:
        raise InputError(f"{path}: is no folder of images; leave --image-size out")
    if embed is None:
        if text:
            raise InputError("--text names a column of text; say how to read it with --embed tfidf")
        return read_features(path, items, item, strict)
    if items is not None:
        raise InputError(f"{path}: a table names its items itself; leave --items out")
    texts, ids = read_texts(path, item, text, strict)
    if embed != WORDS:
        return Features(sentence_vectors(texts, embed), ids)
    words = words or WordVectors.fitted(texts)
    note = (
        f"{len(texts):,} texts as {len(words.directions)} numbers each, from {len(words.terms):,}"
    )
    return Features(words.vectors(texts), ids, f"{note} words and pairs of words", words)


def _images(
    path: str | Path,
    known: Iterable[Any],
    size: tuple[int, int] | None,
    mode: Literal["RGB", "L"] | None,
) -> Features:
    folder = ImageFolder(path, size=size or (SCALED, SCALED), mode=mode or "RGB")
    sizes, grey = peek(folder)
    note = None
    if size is None:
        small = len(sizes) == 1 and max(sizes[0]) <= LARGE
        size = sizes[0] if small else (SCALED, SCALED)
        if not small:
            note = (
                f"images of {_by(sizes[0])} to {_by(sizes[-1])} pixels are scaled to {_by(size)}; "
                "--image-size says otherwise"
            )
    mode = mode or ("L" if grey else "RGB")
    folder = ImageFolder(path, size=size, mode=mode)
    return Features(decoded(folder), folder.names(known), note)


def _by(size: tuple[int, int]) -> str:
    return f"{size[1]}×{size[0]}"
