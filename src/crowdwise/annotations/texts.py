"""A column of text as codes, taken part by part: no more of it is held than the distinct texts."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Codes = NDArray[np.int32]

PART = 1_000_000  # rows taken at once: a whole column of text costs more memory than its codes


class Texts(NamedTuple):
    """A column of text as codes (L,) into its distinct texts, which are sorted."""

    codes: Codes
    texts: pl.Series


class Collision(Exception):
    """Two different texts share a hash: the next seed separates them."""


def encode_texts(column: pl.Series) -> Texts:
    """Codes into the sorted distinct texts.

    Example:
        >>> encode_texts(pl.Series(["b", "a", "b"])).codes
        array([1, 0, 1], dtype=int32)
    """
    for seed in count():
        coder = TextCoder(seed)
        try:
            for start in range(0, len(column), PART):
                coder.add(column[start : start + PART])
        except Collision:
            continue
        return coder.texts()
    raise AssertionError("the seeds never end")


def hash_of(column: pl.Series, seed: int) -> pl.Series:
    """A 64-bit number for every text, (L,): equal for equal texts, rarely for others."""
    return column.hash(seed)


class TextCoder:
    """Codes for a column that comes in parts, by sorting 64-bit hashes instead of texts.

    Equal texts have equal hashes. That different texts have different ones is checked on every
    row; `Collision` says that two texts share one, and asks for another seed from the start.

    Example:
        >>> coder = TextCoder()
        >>> for part in (["b", "a"], ["c", "b"]):
        ...     coder.add(pl.Series(part))
        >>> codes, texts = coder.texts()
        >>> codes.tolist(), texts.to_list()
        ([1, 0, 2, 1], ['a', 'b', 'c'])
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._hashes = np.empty(0, dtype=np.uint64)  # of the distinct texts so far, ascending
        self._place = np.empty(0, dtype=np.int32)  # (D,) their places in order of appearance
        self._seen = pl.Series([], dtype=pl.String)  # (D,) in order of appearance
        self._codes: list[Codes] = []  # places in order of appearance

    def add(self, column: pl.Series) -> None:
        """The next rows."""
        hashes = hash_of(column, self._seed)
        order = hashes.arg_sort().to_numpy()
        ascending = hashes.to_numpy()[order]
        starts = np.flatnonzero(np.diff(ascending, prepend=~ascending[:1]))
        distinct = ascending[starts]

        at = np.searchsorted(self._hashes, distinct)
        known = at < len(self._hashes)
        known[known] = self._hashes[at[known]] == distinct[known]
        place = np.empty(len(distinct), dtype=np.int32)
        place[known] = self._place[at[known]]
        fresh = np.flatnonzero(~known)
        if len(fresh):
            place[fresh] = np.arange(len(self._seen), len(self._seen) + len(fresh))
            self._hashes = np.insert(self._hashes, at[fresh], distinct[fresh])
            self._place = np.insert(self._place, at[fresh], place[fresh])
            texts = column.gather(order[starts[fresh]])
            self._seen = pl.concat([self._seen, texts], rechunk=True)

        codes = np.empty(len(column), dtype=np.int32)
        codes[order] = np.repeat(place, np.diff(starts, append=len(order)))
        if not (self._seen.gather(codes) == column).all():
            raise Collision
        self._codes.append(codes)

    def texts(self) -> Texts:
        """All rows so far."""
        texts = self._seen.sort()
        rank = np.empty(len(texts), dtype=np.int32)
        # The k-th hash in ascending order is that of the text which appeared as number place[k].
        rank[self._place] = hash_of(texts, self._seed).arg_sort().to_numpy()
        codes = np.empty(sum(map(len, self._codes)), dtype=np.int32)
        end = 0
        for part in self._codes:
            start, end = end, end + len(part)
            codes[start:end] = rank[part]
        return Texts(codes, texts)
