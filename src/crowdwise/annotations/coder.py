"""Values that arrive one by one, as codes: memory is O(labels) small integers plus vocabulary."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import polars as pl

from crowdwise.annotations.texts import Codes, Texts, encode_texts
from crowdwise.annotations.vocabulary import Coded, encode


class StreamCoder:
    """Codes for one column's values in order of appearance, sorted at the end.

    Example:
        >>> coder = StreamCoder("label")
        >>> for value in ["yes", "no", "yes"]:
        ...     coder.add(value)
        >>> coder.coded()
        Coded(codes=array([1, 0, 1], dtype=int32), vocabulary=array(['no', 'yes'], dtype='<U3'))
    """

    def __init__(self, role: str) -> None:
        self.role = role
        self._codes = array("i")
        self._place: dict[Any, int] = {}

    def add(self, value: Any) -> None:
        """The next value; values of one kind only, so that 1 and True do not meet."""
        self._codes.append(self._place.setdefault(value, len(self._place)))

    def coded(self) -> Coded:
        """All values so far as they are."""
        codes, vocabulary = encode(list(self._place), self.role)
        return Coded(codes[self._appearance()], vocabulary)

    def texts(self) -> Texts:
        """All values so far, which are text."""
        codes, texts = encode_texts(pl.Series(list(self._place), dtype=pl.String))
        return Texts(codes[self._appearance()], texts)

    def _appearance(self) -> Codes:
        return np.frombuffer(self._codes, dtype=np.int32) if self._codes else np.empty(0, np.int32)
