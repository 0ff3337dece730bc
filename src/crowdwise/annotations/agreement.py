"""How far annotators agree: beyond chance over the whole crowd, and pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdwise.annotations.table import Annotations
from crowdwise.annotations.texts import Codes

# Entries of one block of a sparse product: some hundred megabytes at worst.
_BLOCK = 8_000_000


def label_agreement(annotations: Annotations) -> float:
    """The probability that two labels of the same item agree, over all such pairs of labels.

    NaN where no item has two labels.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 0, 1], list("abca"), [1, 1, 0, 0])
        >>> round(label_agreement(crowd), 3)
        0.333
    """
    votes = annotations.votes()
    pairs = _over_two(votes.sum(axis=1)).sum()
    return float(_over_two(votes.data).sum() / pairs) if pairs else float("nan")


def krippendorff_alpha(annotations: Annotations) -> float:
    """Krippendorff's alpha for nominal labels: 1 is full agreement, 0 what chance would give.

    alpha = 1 - D_o / D_e over the items with at least two labels, where with n_ic labels of class
    c on item i, m_i = Σ_c n_ic, n_c = Σ_i n_ic and n = Σ_c n_c:

        D_o = 1/n · Σ_i Σ_{c≠k} n_ic n_ik / (m_i - 1)      D_e = Σ_{c≠k} n_c n_k / (n (n - 1))

    NaN where it is not defined: no item has two labels, or all labels name one class.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1, 1], list("abab"), [0, 0, 1, 1])
        >>> krippendorff_alpha(crowd)
        1.0
    """
    votes = annotations.votes()
    votes = votes[votes.sum(axis=1) >= 2]
    totals = votes.sum(axis=1).astype(np.float64)
    n = totals.sum()
    per_class = np.asarray(votes.sum(axis=0), dtype=np.float64).ravel()
    # Σ_{c≠k} n_c n_k = (Σ_c n_c)² - Σ_c n_c²; the same within an item.
    expected = n**2 - (per_class**2).sum()
    if not expected > 0:
        return float("nan")
    squares = np.asarray(votes.power(2).sum(axis=1), dtype=np.float64).ravel()
    observed = ((totals**2 - squares) / (totals - 1)).sum()
    return float(1 - (n - 1) * observed / expected)


@dataclass(frozen=True)
class PairAgreement:
    """Pairs of annotators a < b (codes), the items both labelled, and how often they agreed."""

    a: NDArray[np.int64]  # (P,)
    b: NDArray[np.int64]  # (P,)
    shared: NDArray[np.int64]  # (P,) at least one
    agreements: NDArray[np.int64]  # (P,) at most shared


def pairwise_agreement(annotations: Annotations, min_shared: int = 1) -> PairAgreement:
    """Who agrees with whom: every two annotators that share at least `min_shared` items.

    With the incidences A (annotators × items) and B (annotators × item-and-class), A Aᵀ counts
    shared items and B Bᵀ agreements. Both products are sparse and are made for a block of
    annotators at a time. An item with m labels makes m²/2 pairs: where a few items were put
    before everyone, a higher `min_shared` keeps the answer small.

    Args:
        annotations: the crowd's table.
        min_shared: how many items two annotators must have in common to be listed.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1, 1, 1], list("ababc"), [1, 0, 1, 1, 0])
        >>> pairs = pairwise_agreement(crowd)
        >>> pairs.a.tolist(), pairs.b.tolist()
        ([0, 0, 1], [1, 2, 2])
        >>> pairs.shared.tolist(), pairs.agreements.tolist()
        ([2, 1, 1], [1, 0, 0])
    """
    key = annotations.item.astype(np.int64) * annotations.n_classes + annotations.label
    keys, said = np.unique(key, return_inverse=True)
    saw = _incidence(annotations.annotator, annotations.item, annotations, annotations.n_items)
    gave = _incidence(annotations.annotator, said, annotations, len(keys))
    saw_by_item, gave_by_key = saw.T.tocsr(), gave.T.tocsr()

    found: list[NDArray[np.int64]] = []
    for start, stop in _blocks(annotations):
        # Shared items in the upper 32 bits, agreements in the lower: one sum aligns the two.
        both = (saw[start:stop] @ saw_by_item) * 2**32 + gave[start:stop] @ gave_by_key
        entries = both.tocoo()
        a, b = entries.row.astype(np.int64) + start, entries.col.astype(np.int64)
        kept = (a < b) & (entries.data >> 32 >= min_shared)
        found.append(np.stack([a[kept], b[kept], entries.data[kept]]))
    a, b, both_counts = np.concatenate([np.zeros((3, 0), np.int64), *found], axis=1)
    order = np.lexsort((b, a))
    counts = both_counts[order]
    return PairAgreement(a[order], b[order], counts >> 32, counts & (2**32 - 1))


def _over_two(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return counts * (counts - 1) // 2


def _incidence(
    row: Codes, column: NDArray[np.integer[Any]], annotations: Annotations, width: int
) -> sparse.csr_array:
    ones = np.ones(len(annotations), np.int64)
    return sparse.coo_array((ones, (row, column)), shape=(annotations.n_annotators, width)).tocsr()


def _blocks(annotations: Annotations) -> Iterator[tuple[int, int]]:
    """Runs of annotators whose rows of the product have at most about `_BLOCK` entries."""
    per_item = np.bincount(annotations.item, minlength=annotations.n_items)
    met = np.bincount(
        annotations.annotator,
        weights=per_item[annotations.item],
        minlength=annotations.n_annotators,
    )
    entries = np.cumsum(np.minimum(met, annotations.n_annotators))
    start = 0
    while start < annotations.n_annotators:
        before = entries[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(entries, before + _BLOCK, side="right")))
        yield start, stop
        start = stop
