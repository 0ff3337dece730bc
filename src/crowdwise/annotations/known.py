"""Truth, where it is known, put beside a crowd's table as codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError

Truth: TypeAlias = Mapping[Any, Any] | ArrayLike


def truth_codes(annotations: Annotations, truth: Truth) -> NDArray[np.int64]:
    """The true class of each item, (N,) along item_ids, as a code into `classes`.

    -1 stands for an item without truth. A true label that no annotator ever gave is not in
    `classes`; its code is n_classes, so that it equals no label.

    Args:
        annotations: the crowd's table.
        truth: a mapping from item id to true label, or the true labels along `item_ids`;
            None and NaN say that the truth is not known.

    Example:
        >>> crowd = Annotations.from_triples([7, 8, 9], ["ann"] * 3, ["cat", "dog", "dog"])
        >>> truth_codes(crowd, {7: "dog", 9: "cow"}).tolist()
        [1, -1, 2]
    """
    if isinstance(truth, Mapping):
        labels = [truth.get(item) for item in annotations.item_ids.tolist()]
        if truth and all(_is_missing(label) for label in labels):
            raise InputError(
                f"the truth covers none of the crowd's items: it knows {_some(truth)}, the crowd "
                f"labelled {_some(annotations.item_ids)}; give both the same ids"
            )
    else:
        given = np.asarray(truth)
        if given.shape != (annotations.n_items,):
            raise InputError(
                f"the truth has shape {given.shape}, the crowd {annotations.n_items} items; "
                "give one true label per item, in the order of item_ids, or a mapping from id "
                "to label"
            )
        labels = given.tolist()

    code_of = {name: code for code, name in enumerate(annotations.classes.tolist())}
    outside = annotations.n_classes
    codes = np.fromiter(
        (-1 if _is_missing(label) else code_of.get(label, outside) for label in labels),
        dtype=np.int64,
        count=len(labels),
    )
    if (codes == outside).any() and not ((codes >= 0) & (codes < outside)).any():
        strangers = [label for label in labels if not _is_missing(label)]
        raise InputError(
            f"no true label is one of the crowd's classes: the truth says {_some(strangers)}, the "
            f"crowd says {_some(annotations.classes)}; write both in the same way"
        )
    return codes


def _is_missing(label: Any) -> bool:
    return label is None or label != label  # NaN alone differs from itself


def _some(values: Iterable[Any]) -> str:
    """The first few different values, as a person would list them."""
    shown: list[str] = []
    for value in values:
        text = repr(value.item() if isinstance(value, np.generic) else value)
        if text in shown:
            continue
        if len(shown) == 3:
            return ", ".join(shown) + ", …"
        shown.append(text)
    return ", ".join(shown)
