"""Values from elsewhere (classes, a truth file) in the kind that a vocabulary has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.annotations.vocabulary import INTEGER, Coded, Where, encode
from crowdwise.errors import InputError


def as_kind_of(values: Iterable[Any], vocabulary: NDArray[Any]) -> list[Any]:
    """The values as the kind the vocabulary has, where a text and a number say the same.

    Example:
        >>> as_kind_of(["1", "2"], np.array([1, 2, 3]))
        [1, 2]
        >>> as_kind_of([1, 2], np.array(["1", "2"]))
        ['1', '2']
    """
    kind = type(vocabulary[:1].tolist()[0]) if len(vocabulary) else str
    return [_as_kind(value, kind) for value in values]


def _as_kind(value: Any, kind: type) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if kind is int and isinstance(value, str) and re.fullmatch(INTEGER, value):
        return int(value)
    if kind is bool and value in {"false", "False", "true", "True"}:
        return value in {"true", "True"}
    if kind is str and type(value) is int:
        return str(value)
    return value


def kind_name(vocabulary: NDArray[Any]) -> str:
    """What the entries are, in a word: text, integers or booleans."""
    names = {str: "text", int: "integers", bool: "booleans"}
    return names.get(type(vocabulary[:1].tolist()[0]), "mixed") if len(vocabulary) else "nothing"


def same_vocabulary(left: NDArray[Any], right: NDArray[Any]) -> bool:
    """The same entries of the same kind in the same order."""
    if len(left) == len(right) == 0:
        return True
    return kind_name(left) == kind_name(right) and bool(np.array_equal(left, right))


def recode(label: Coded, classes: list[Any], where: Where) -> Coded:
    """The labels with `classes` as their vocabulary, in the order given.

    Example:
        >>> label = encode(["b", "a"], "label")
        >>> recode(label, ["b", "c", "a"], str).codes
        array([0, 2], dtype=int32)
    """
    names = as_kind_of(classes, label.vocabulary)
    ordered = encode(names, "label", lambda index: f"classes, entry {index + 1}")
    if len(ordered.vocabulary) < len(names):
        counts = np.bincount(ordered.codes)
        raise InputError(
            f"the class {ordered.vocabulary[counts > 1][0]} is named twice in classes; "
            "name each class once"
        )
    place = {name: code for code, name in enumerate(names)}
    found = [place.get(name, -1) for name in label.vocabulary.tolist()]
    codes = np.array(found, dtype=np.int32)[label.codes] if found else label.codes
    strangers = np.flatnonzero(codes < 0)
    if len(strangers):
        first = int(strangers[0])
        raise InputError(
            f"{where(first)}: the label {label.vocabulary[label.codes[first]]} is not among the "
            f"classes given ({_some(names)}); add it to them or repair the row"
        )
    return Coded(codes, ordered.vocabulary[ordered.codes])


def _some(names: list[Any]) -> str:
    return ", ".join(str(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
