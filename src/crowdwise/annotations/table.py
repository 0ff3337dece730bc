"""The crowd's table as sparse triples with vocabularies: memory is O(labels)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from crowdwise.annotations import conversions
from crowdwise.annotations.conflicts import settle
from crowdwise.annotations.kinds import recode, same_vocabulary
from crowdwise.annotations.texts import Codes
from crowdwise.annotations.vocabulary import Coded, Where, encode, row_number
from crowdwise.errors import InputError

Groups = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """One row per observed label: item, annotator and label as int32 codes.

    The vocabularies hold what the user wrote, sorted (classes in the order given, if given), as
    arrays of strings, int64 or bool; of objects for integers beyond 64 bits and for a few very
    long strings among many short ones. They may hold ids without labels. Arrays are read-only.

    Example:
        >>> crowd = Annotations.from_triples([7, 7, 9], ["ann", "bob", "ann"], ["no", "yes", "no"])
        >>> crowd
        Annotations(3 labels: 2 items, 2 annotators, classes ['no', 'yes'])
        >>> crowd.label, crowd.item_ids[crowd.item]
        (array([0, 1, 0], dtype=int32), array([7, 7, 9]))
    """

    item: Codes  # (L,) index into item_ids
    annotator: Codes  # (L,) index into annotator_ids
    label: Codes  # (L,) index into classes
    item_ids: NDArray[Any]  # (N,)
    annotator_ids: NDArray[Any]  # (R,)
    classes: NDArray[Any]  # (C,)
    repeats_dropped: int = 0  # rows that repeated an earlier one word for word
    conflicts_settled: int = 0  # pairs of item and annotator whose labels contradicted each other
    frame_kind: str = field(default="polars")  # the data frames that to_frame gives

    def __post_init__(self) -> None:
        sizes = {"item": self.n_items, "annotator": self.n_annotators, "label": self.n_classes}
        for name, size in sizes.items():
            codes = np.ascontiguousarray(getattr(self, name), dtype=np.int32).view()
            if codes.shape != (len(self.label),):
                raise ValueError(f"{name} has shape {codes.shape}, label {self.label.shape}")
            if len(codes) and not (codes.min() >= 0 and codes.max() < size):
                raise ValueError(f"{name} has codes outside 0..{size - 1}")
            codes.setflags(write=False)
            object.__setattr__(self, name, codes)
        for name in ("item_ids", "annotator_ids", "classes"):
            vocabulary = np.asarray(getattr(self, name)).view()
            vocabulary.setflags(write=False)
            object.__setattr__(self, name, vocabulary)

    @classmethod
    def from_coded(
        cls,
        columns: Sequence[Coded],
        classes: Iterable[Any] | None = None,
        on_conflict: str = "error",
        where: Where = row_number,
        frame_kind: str = "polars",
    ) -> Annotations:
        """Put item, annotator and label together: classes in order, duplicates settled."""
        item, annotator, label = columns
        if classes is not None:
            label = recode(label, list(classes), where)
        (i, item_ids), (a, annotator_ids), (y, names) = item, annotator, label
        if not len(i) == len(a) == len(y):
            raise InputError(
                f"{len(i)} items, {len(a)} annotators and {len(y)} labels: "
                "give columns of equal length"
            )

        def describe(row: int, other: int) -> str:
            return (
                f"annotator {annotator_ids[a[row]]} labelled item {item_ids[i[row]]} both "
                f"{names[y[row]]} ({where(row)}) and {names[y[other]]} ({where(other)})"
            )

        key = i.astype(np.int64) * max(len(annotator_ids), 1) + a
        keep, repeats, conflicts = settle(key, y, on_conflict, describe)
        if keep is not None:
            i, a, y = i[keep], a[keep], y[keep]
        return cls(i, a, y, item_ids, annotator_ids, names, repeats, conflicts, frame_kind)

    @classmethod
    def from_triples(
        cls,
        item: ArrayLike,
        annotator: ArrayLike,
        label: ArrayLike,
        classes: Iterable[Any] | None = None,
        on_conflict: str = "error",
    ) -> Annotations:
        """Annotations from three columns of ids and labels; see `from_frame` for the arguments."""
        columns = {"item": item, "annotator": annotator, "label": label}
        coded = [encode(values, role) for role, values in columns.items()]
        return cls.from_coded(coded, classes, on_conflict)

    @classmethod
    def from_frame(
        cls,
        df: Any,
        item: str | None = None,
        annotator: str | None = None,
        label: str | None = None,
        classes: Iterable[Any] | None = None,
        on_conflict: str = "error",
    ) -> Annotations:
        """Annotations from a pandas, polars or pyarrow table (any that narwhals knows).

        Args:
            item, annotator, label: names of columns; found by their usual names when None.
            classes: the class order; sorted when None. It may hold classes nobody used.
            on_conflict: what becomes of an annotator's contradicting labels for one item:
                error, first, last, majority or drop.
        """
        columns, kind = conversions.frame_columns(df, item, annotator, label)
        coded = [encode(values, role) for role, values in columns.items()]
        return cls.from_coded(coded, classes, on_conflict, frame_kind=kind)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        item: str | None = None,
        annotator: str | None = None,
        label: str | None = None,
        classes: Iterable[Any] | None = None,
        on_conflict: str = "error",
    ) -> Annotations:
        """Annotations from mappings such as the dictionaries `to_records` gives."""
        columns = conversions.record_columns(list(records), item, annotator, label)
        coded = [encode(values, role) for role, values in columns.items()]
        return cls.from_coded(coded, classes, on_conflict)

    @classmethod
    def from_dense(cls, matrix: ArrayLike, missing: Any = -1) -> Annotations:
        """Annotations from items × annotators; `missing`, NaN and None mark what is not observed.

        Items and annotators are numbered by row and column, empty ones included.

        Example:
            >>> Annotations.from_dense([[0, 1], [1, -1]]).to_records()[-1]
            {'item': 1, 'annotator': 0, 'label': 1}
        """
        item, annotator, values, (n, r) = conversions.dense_triples(matrix, missing)
        label = encode(values, "label")
        return cls(item, annotator, label.codes, np.arange(n), np.arange(r), label.vocabulary)

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

    @cached_property
    def by_item(self) -> Groups:
        """Offsets (N+1,) and row numbers (L,): item i has rows order[offsets[i]:offsets[i+1]]."""
        return conversions.grouped(self.item, self.n_items)

    @cached_property
    def by_annotator(self) -> Groups:
        """Offsets (R+1,) and row numbers (L,), as in `by_item`."""
        return conversions.grouped(self.annotator, self.n_annotators)

    def votes(self) -> sparse.csr_array:
        """How many annotators gave each item each class: sparse counts (N, C)."""
        ones = np.ones(len(self), dtype=np.int64)
        shape = (self.n_items, self.n_classes)
        return sparse.coo_array((ones, (self.item, self.label)), shape=shape).tocsr()

    def subset(self, items: ArrayLike) -> Annotations:
        """The labels of these items (ids, in the order wanted) or of a mask along item_ids.

        Annotators and classes keep their vocabularies, and so their codes.
        """
        wanted = conversions.item_codes(items, self.item_ids)
        place = np.full(self.n_items, -1, dtype=np.int32)
        place[wanted] = np.arange(len(wanted), dtype=np.int32)
        rows = np.flatnonzero(place[self.item] >= 0)
        return Annotations(
            place[self.item[rows]],
            self.annotator[rows],
            self.label[rows],
            self.item_ids[wanted],
            self.annotator_ids,
            self.classes,
            frame_kind=self.frame_kind,
        )

    def to_triples(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Item, annotator and label of every row as the user wrote them."""
        return (
            self.item_ids[self.item],
            self.annotator_ids[self.annotator],
            self.classes[self.label],
        )

    def to_frame(self) -> Any:
        """A frame with columns item, annotator, label, of the kind that went in."""
        return conversions.to_frame(self)

    def to_records(self) -> list[dict[str, Any]]:
        """One dictionary per label."""
        return [
            {"item": i, "annotator": a, "label": y}
            for i, a, y in zip(*(column.tolist() for column in self.to_triples()), strict=True)
        ]

    def to_dense(self, missing: Any = -1) -> NDArray[Any]:
        """Class values as items × annotators: O(N · R) memory, for small crowds only."""
        return conversions.dense(self, missing)

    def __eq__(self, other: object) -> bool:
        """The same vocabularies and the same labels, in whatever order the rows are."""
        if not isinstance(other, Annotations):
            return NotImplemented
        return (
            len(self) == len(other)
            and same_vocabulary(self.item_ids, other.item_ids)
            and same_vocabulary(self.annotator_ids, other.annotator_ids)
            and same_vocabulary(self.classes, other.classes)
            and np.array_equal(self._sorted_rows(), other._sorted_rows())
        )

    def _sorted_rows(self) -> NDArray[np.int32]:
        rows = np.stack([self.item, self.annotator, self.label])
        return rows[:, np.lexsort(rows)]

    def __hash__(self) -> int:
        return hash((len(self), self.n_items, self.n_annotators, self.n_classes))

    def __reduce__(self) -> tuple[Any, ...]:
        names = self.__dataclass_fields__
        return Annotations, tuple(getattr(self, name) for name in names)

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self.classes[:8].tolist())
        more = ", ..." if self.n_classes > 8 else ""
        return (
            f"Annotations({len(self)} labels: {self.n_items} items, "
            f"{self.n_annotators} annotators, classes [{shown}{more}])"
        )
