"""Labels sorted by item and cut into blocks small enough for the processor's cache."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError

Floats = NDArray[np.float64]
Total = Callable[[Floats], Floats]  # an array in, its sum over all processes out
Result = TypeVar("Result")

_total: ContextVar[Total | None] = ContextVar("total", default=None)

# Labels plus items per block. A block's (B, C) posteriors then stay in the second-level cache
# between the E-step that writes them and the M-step that reads them.
BLOCK = 1 << 16


@dataclass(frozen=True)
class Block:
    """A run of labelled items; `codes[b, code]` = 1 where item b got that (annotator, label)."""

    start: int  # first row among the labelled items
    stop: int
    codes: Any  # csr_array (B, K), K = R·C, code = annotator·C + label
    most: int  # the largest number of labels on one item of the block


@dataclass(frozen=True)
class Packed:
    """The crowd's labels as blocks of items; items without labels are left out."""

    blocks: list[Block]
    labelled: NDArray[np.bool_]  # (N,) items with at least one label
    n_annotators: int
    n_classes: int
    n_labels: int
    threads: int
    total: Total | None = None  # how sums become those of all shares, where each holds some items

    @property
    def n_labelled(self) -> int:
        return self.blocks[-1].stop

    def map(self, work: Callable[[Block], Result]) -> Iterator[Result]:
        """`work` on every block; results come in block order whatever the number of threads."""
        if self.threads == 1 or len(self.blocks) == 1:
            yield from map(work, self.blocks)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[Future[Result]] = deque()
            for block in self.blocks:
                waiting.append(pool.submit(work, block))
                if len(waiting) > 2 * self.threads:  # finished results must not pile up
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def spread(self, rows: Floats, elsewhere: Floats) -> Floats:
        """(labelled items, C) rows as (N, C), with `elsewhere` (C,) for items nobody labelled."""
        if self.n_labelled == len(self.labelled):
            return rows
        proba = np.empty((len(self.labelled), self.n_classes))
        proba[:] = elsewhere
        proba[self.labelled] = rows
        return proba


@contextmanager
def shared(total: Total) -> Iterator[None]:
    """Inside, tables are shares of one table, and every sum over items is over all of them."""
    token = _total.set(total)
    try:
        yield
    finally:
        _total.reset(token)


def pack(annotations: Annotations, threads: int | None = None) -> Packed:
    """Sort the labels by item in linear time and cut them into blocks.

    The sort is the counting sort inside scipy's CSC to CSR conversion: label l is the only entry
    of column l, in row item[l], and its value is its code.
    """
    total = _total.get()
    n_items, n_labels = annotations.n_items, len(annotations)
    n_codes = annotations.n_annotators * annotations.n_classes
    if n_labels == 0:
        raise InputError("the table has no labels; aggregation needs at least one")
    if max(n_codes, n_labels) >= 2**31:
        raise InputError(
            f"{n_labels} labels and {n_codes} annotators × classes: aggregation counts both in "
            "32 bits, so each must stay below 2147483648; split the table"
        )
    code = annotations.annotator * np.int32(annotations.n_classes) + annotations.label
    each = np.arange(n_labels + 1, dtype=np.int32)
    by_item = sparse.csc_array((code, annotations.item, each), (n_items, n_labels)).tocsr()
    code, offsets = by_item.data, by_item.indptr
    del by_item, each

    labelled = np.diff(offsets) > 0
    offsets = np.append(offsets[:1], offsets[1:][labelled])  # (labelled items + 1,)
    last = len(offsets) - 1
    # A block's (K, C) counts must not outweigh its items' posteriors.
    weight = offsets + np.arange(last + 1)
    cuts = np.searchsorted(weight, np.arange(0, weight[-1], max(BLOCK, 4 * n_codes)))
    cuts = np.unique(np.append(cuts, last))
    ones = np.ones(np.diff(offsets[cuts]).max())  # shared: every matrix holds ones only
    blocks = []
    for start, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        rows = (offsets[start : stop + 1] - offsets[start]).astype(np.int32)
        values = code[offsets[start] : offsets[stop]]
        codes = sparse.csr_array((ones[: len(values)], values, rows), (stop - start, n_codes))
        blocks.append(Block(start, stop, codes, int(np.diff(rows).max())))
    return Packed(
        blocks,
        labelled,
        annotations.n_annotators,
        annotations.n_classes,
        n_labels if total is None else round(float(total(np.array([n_labels], float))[0])),
        threads or min(8, os.cpu_count() or 1),
        total,
    )
