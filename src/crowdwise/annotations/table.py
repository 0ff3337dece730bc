"""The crowd's table as sparse triples with vocabularies: memory is O(labels)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Annotations:
    """One row per observed label: item, annotator and label as int32 codes."""

    item: Codes  # (L,) index into item_ids
    annotator: Codes  # (L,) index into annotator_ids
    label: Codes  # (L,) index into classes
    item_ids: NDArray[Any]  # (N,)
    annotator_ids: NDArray[Any]  # (R,)
    classes: NDArray[Any]  # (C,)

    def __len__(self) -> int:
        return len(self.label)

    @property
    def n_items(self) -> int:
        return len(self.item_ids)

    @property
    def n_annotators(self) -> int:
        return len(self.annotator_ids)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @classmethod
    def from_triples(
        cls,
        item: ArrayLike,
        annotator: ArrayLike,
        label: ArrayLike,
        classes: Iterable[Any] | None = None,
    ) -> Annotations:
        item_ids, items = np.unique(np.asarray(item), return_inverse=True)
        annotator_ids, annotators = np.unique(np.asarray(annotator), return_inverse=True)
        if classes is None:
            names, labels = np.unique(np.asarray(label), return_inverse=True)
        else:
            names = np.asarray(list(classes))
            order = np.argsort(names)
            labels = order[np.searchsorted(names[order], np.asarray(label))]
        return cls(
            items.astype(np.int32),
            annotators.astype(np.int32),
            labels.astype(np.int32),
            item_ids,
            annotator_ids,
            names,
        )

    @cached_property
    def by_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Offsets (N+1,) and row numbers (L,): item i has rows order[offsets[i]:offsets[i+1]]."""
        order = np.argsort(self.item, kind="stable").astype(np.int64)
        counts = np.bincount(self.item, minlength=self.n_items)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order
