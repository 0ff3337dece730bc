"""One process's share of a crowd's table: the labels of some items, in everybody's codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from crowdwise.annotations.texts import Texts
from crowdwise.annotations.vocabulary import Coded, object_array, recognise, text_array

SEED = 7  # of the hash that deals items to shares


@dataclass(frozen=True)
class Share:
    """Share `number` of `of`: every process reads the table and keeps the items dealt to it.

    Items are known to one process only; annotators and classes have the same codes in all.

    Args:
        exchange: hands an object to all processes and gives back every process's, in order.
    """

    number: int  # from 0
    of: int
    exchange: Callable[[Any], list[Any]]

    @property
    def name(self) -> str:
        """For messages."""
        return f"share {self.number + 1} of {self.of},"

    def rows(self, item: str) -> pl.Expr:
        """Which rows are this share's, by the name of the item column."""
        return pl.col(item).cast(pl.String).hash(SEED) % self.of == self.number

    def keep(self, columns: Mapping[str, Texts]) -> dict[str, Texts]:
        """The rows of this share, of columns read whole."""
        items = columns["item"]
        mine = (items.texts.hash(SEED) % self.of == self.number).to_numpy()[items.codes]
        kept = {}
        for role, (codes, texts) in columns.items():
            used, own = np.unique(codes[mine], return_inverse=True)
            kept[role] = Texts(own.astype(np.int32), texts.gather(used))
        return kept

    def recognise(self, column: Texts, role: str) -> Coded:
        """`recognise` as it would be on the whole column."""
        if role == "item":
            coded = recognise(column, role)
            kinds = self.exchange(coded.vocabulary.dtype.kind if len(coded.vocabulary) else "")
            same = len(set(kinds) - {""}) <= 1
            return coded if same else Coded(column.codes, text_array(column.texts))
        everybodys = pl.concat([pl.Series(t) for t in self.exchange(column.texts.to_list()) if t])
        texts = everybodys.unique().sort()
        place = texts.search_sorted(column.texts).to_numpy().astype(np.int32)
        return recognise(Texts(place[column.codes], texts), role)

    def unite(self, column: Coded, role: str) -> Coded:
        """A column's codes in the vocabulary of all shares together."""
        if role == "item":
            return column
        entries = {name for names in self.exchange(column.vocabulary.tolist()) for name in names}
        names = sorted(entries)
        place = {name: code for code, name in enumerate(names)}
        codes = np.array([place[name] for name in column.vocabulary.tolist()], dtype=np.int32)
        kind = column.vocabulary.dtype.kind
        vocabulary = object_array(names) if kind == "O" else np.array(names)
        return Coded(codes[column.codes], vocabulary)
