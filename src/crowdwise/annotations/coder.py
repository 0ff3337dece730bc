"""Values that arrive one by one, as codes: memory is O(labels) small integers plus vocabulary."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import polars as pl

from crowdwise.annotations.vocabulary import (
    Coded,
    encode,
    encode_categorical,
    own_categorical,
)


class StreamCoder:
    """Codes for one column's values in order of appearance, sorted at the end.

    Example:
        >>> coder = StreamCoder("label")
        >>> for value in ["yes", "no", "yes"]:
        ...     coder.add(value)
        >>> coder.coded(infer=False)
        Coded(codes=array([1, 0, 1], dtype=int32), vocabulary=array(['no', 'yes'], dtype='<U3'))
    """

    def __init__(self, role: str) -> None:
        self.role = role
        self._codes = array("i")
        self._place: dict[Any, int] = {}

    def add(self, value: Any) -> None:
        """The next value; values of one kind only, so that 1 and True do not meet."""
        self._codes.append(self._place.setdefault(value, len(self._place)))

    def coded(self, infer: bool) -> Coded:
        """All values so far; `infer` reads integers and booleans from text."""
        values = list(self._place)
        if infer:
            texts = pl.Series(values, dtype=pl.String).cast(own_categorical())
            ranked = encode_categorical(texts, self.role, infer=True)
        else:
            ranked = encode(values, self.role)
        codes = np.frombuffer(self._codes, dtype=np.int32) if self._codes else np.empty(0, np.int32)
        return Coded(ranked.codes[codes], ranked.vocabulary)
