"""A synthetic crowd before anyone has labelled anything: who is there, and what they would say."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdwise.errors import InputError
from crowdwise.simulate.cases import Case, patterns_of
from crowdwise.simulate.difficulty import Difficulty, difficulty_of
from crowdwise.simulate.hashing import bits, generator, key, next_bits, uniform
from crowdwise.simulate.patterns import Pattern, draw, follow
from crowdwise.simulate.sparsity import TAILS, Selection, weights

Labels = NDArray[np.int32]
Codes = NDArray[np.int32]

_PAIRS = 1 << 18  # (item, annotator) pairs evaluated at a time


@dataclass(frozen=True)
class Plan:
    """Everything that decides a crowd's labels; memory is O(items + annotators)."""

    truth: Labels  # (N,) codes into classes
    classes: NDArray[Any]  # (C,)
    patterns: tuple[Pattern, ...]  # one per group
    group: Codes  # (R,) index into patterns
    reference: Codes  # (R,) the annotator a copying one follows, -1 for the independent
    weight: NDArray[np.float64]  # (R,)
    difficulty: Difficulty | None
    k: int
    seed: int

    @property
    def n_items(self) -> int:
        return len(self.truth)

    @property
    def n_annotators(self) -> int:
        return len(self.group)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def labels(self, item: NDArray[np.int64], annotator: Codes) -> Labels:
        """Return what each annotator says about the item beside it, asked or not. (L,)"""
        truth = self.truth[item]
        here = bits(key(self.seed, "labels"), annotator, item)
        u, here = uniform(here), next_bits(here)
        v, here = uniform(here), next_bits(here)
        said = np.empty(len(item), dtype=np.int32)
        group = self.group[annotator]
        for g, pattern in enumerate(self.patterns):
            rows = np.flatnonzero(group == g)
            if not len(rows):
                continue
            if pattern.copies:  # the reference is of an earlier group, so this ends
                referred = self.labels(item[rows], self.reference[annotator[rows]])
                said[rows] = follow(pattern, truth[rows], referred, v[rows], self.n_classes)
                continue
            said[rows] = draw(pattern, truth[rows], u[rows], v[rows], self.n_classes)
            if self.difficulty is not None and pattern.kind != "dummy":
                at = item[rows]
                aside, instead = here[rows], next_bits(here[rows])
                hit = uniform(aside) < self.difficulty.share[at]
                if self.difficulty.lookalike is None:
                    other = (uniform(instead) * self.n_classes).astype(np.int32)
                else:
                    other = self.difficulty.lookalike[at]
                said[rows] = np.where(hit, other, said[rows])
        return said

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], Codes, Labels]]:
        """Yield items (n,), their annotators (n, k) and labels (n, k), all items in order.

        Only drawn pairs are evaluated, a bounded number at a time. Where the blocks end changes
        no label.
        """
        select = Selection(self.weight, self.k, self.seed)
        step = max(1, _PAIRS // self.k)
        for start in range(0, self.n_items, step):
            item = np.arange(start, min(start + step, self.n_items))
            annotator = select(item)
            label = self.labels(np.repeat(item, self.k), annotator.ravel())
            yield item, annotator, label.reshape(annotator.shape)


def plan(
    truth: ArrayLike,
    case: Case = "IND-I",
    k: int = 3,
    seed: int = 0,
    *,
    n_per_pattern: int | Sequence[int] = 50,
    beta: tuple[float, float] | None = None,
    tail: str = "paper",
    difficulty: float | ArrayLike | None = None,
    features: ArrayLike | None = None,
    n_classes: int | None = None,
) -> Plan:
    """Return the plan of a crowd; the arguments are those of `crowd`."""
    if seed < 0:
        raise InputError(f"seed {seed} is negative; use 0 or more")
    codes, classes = _encode(np.asarray(truth), n_classes)
    patterns = _existing(patterns_of(case), case, len(classes))
    sizes = _sizes(n_per_pattern, len(patterns))
    group = np.repeat(np.arange(len(patterns), dtype=np.int32), sizes)
    if not 1 <= k <= len(group):
        raise InputError(f"k = {k}: an item takes between 1 and {len(group)} different annotators")
    if beta is None and tail not in TAILS:
        raise InputError(f"tail {tail!r} is not known; use one of {', '.join(TAILS)}")
    return Plan(
        truth=codes,
        classes=classes,
        patterns=patterns,
        group=group,
        reference=_references(patterns, sizes, seed),
        weight=weights(len(group), TAILS[tail] if beta is None else beta, seed),
        difficulty=difficulty_of(difficulty, features, codes, len(classes), seed),
        k=k,
        seed=seed,
    )


def _encode(truth: NDArray[Any], n_classes: int | None) -> tuple[Labels, NDArray[Any]]:
    if truth.ndim != 1 or not len(truth):
        raise InputError(f"truth has shape {truth.shape}; give one label per item")
    missing = np.flatnonzero(truth != truth)  # NaN is no class, and is not itself
    if truth.dtype.kind == "O":
        missing = np.flatnonzero([label is None or label != label for label in truth])
    if len(missing):
        raise InputError(f"truth, item {missing[0]}: the label is missing; drop the item")
    if n_classes is not None:
        return _numbered(truth, n_classes)
    try:
        classes, codes = np.unique(truth, return_inverse=True)
    except TypeError as error:
        raise InputError("truth mixes text and numbers; give labels of one kind") from error
    if len(classes) < 2:
        raise InputError(f"truth has one class only ({classes[0]}); give n_classes if more exist")
    return codes.astype(np.int32), classes


def _numbered(truth: NDArray[Any], n_classes: int) -> tuple[Labels, NDArray[Any]]:
    if n_classes < 2:
        raise InputError(f"n_classes = {n_classes}: a crowd needs two classes at least")
    if truth.dtype.kind not in "iu" or truth.min() < 0 or truth.max() >= n_classes:
        raise InputError(f"with n_classes = {n_classes} the truth must be 0 to {n_classes - 1}")
    return truth.astype(np.int32), np.arange(n_classes)


def _existing(patterns: tuple[Pattern, ...], case: Case, n_classes: int) -> tuple[Pattern, ...]:
    kept = tuple(pattern.within(n_classes) for pattern in patterns)
    changed = [
        f"{old.name} keeps {','.join(map(str, new.classes)) or 'none'}"
        for old, new in zip(patterns, kept, strict=True)
        if old != new
    ]
    if changed:
        warnings.warn(
            f"case {case}: the truth has {n_classes} classes, so {'; '.join(changed)}",
            UserWarning,
            stacklevel=4,
        )
    return kept


def _sizes(n_per_pattern: int | Sequence[int], n_patterns: int) -> list[int]:
    given = np.atleast_1d(n_per_pattern)
    sizes = [int(n) for n in (np.repeat(given, n_patterns) if len(given) == 1 else given)]
    if len(sizes) != n_patterns or min(sizes) < 1:
        raise InputError(
            f"n_per_pattern {n_per_pattern}: give one positive number, or one for each of the"
            f" {n_patterns} patterns"
        )
    return sizes


def _references(patterns: tuple[Pattern, ...], sizes: list[int], seed: int) -> Codes:
    """Each copying annotator follows one drawn uniformly from the groups before its own. (R,)"""
    random = generator(seed, "references")
    reference, before = [], 0
    for pattern, size in zip(patterns, sizes, strict=True):
        drawn = random.integers(0, before, size) if pattern.copies else np.full(size, -1)
        reference.append(drawn.astype(np.int32))
        before += size
    return np.concatenate(reference)
