"""Synthetic crowds of the paper's kind: patterns decide what is said, weights who is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdwise.annotations import Annotations
from crowdwise.simulate.cases import Case
from crowdwise.simulate.confusions import exact_confusions
from crowdwise.simulate.plan import Plan, plan


@dataclass(frozen=True)
class SimulatedCrowd:
    """A crowd's labels together with what made them."""

    annotations: Annotations
    plan: Plan

    @property
    def patterns(self) -> list[str]:
        """Each annotator's pattern by name. (R,)"""
        names = [pattern.name for pattern in self.plan.patterns]
        return [names[g] for g in self.plan.group]

    @property
    def reference(self) -> NDArray[np.int32]:
        """The annotator that a copying one follows, -1 for the independent. (R,)"""
        return self.plan.reference

    @property
    def weight(self) -> NDArray[np.float64]:
        """How readily each annotator is drawn. (R,)"""
        return self.plan.weight

    def confusions(self) -> NDArray[np.float64]:
        """Exact T[r, p, q] = P(r says q | true class p). (R, C, C)"""
        return exact_confusions(self.plan)


def crowd(
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
) -> Annotations:
    """Label items 0..N-1 by a synthetic crowd.

    Each item draws k annotators without replacement with probability proportional to their
    weights; each of them labels it by the pattern of its group. The same seed gives the same
    labels, and the first k annotators of an item are the same for every larger k.

    Args:
        truth: the true label of every item, any kind of label. (N,)
        case: IND-I..IV or COR-I..IV, or patterns: "sym-0.3 class-wise-2,5 dummy copy".
        k: labels per item.
        seed: decides everything that is random.
        n_per_pattern: annotators per pattern, one number or one per pattern.
        beta: weights are drawn from Beta(a, b); overrides `tail`.
        tail: "paper" is Beta(1.5, 3); "heavy", "labelme", "music", "cifar10n" are fitted.
        difficulty: None, a mean in [0, 1], or one probability per item (see `Difficulty`).
        features: item vectors (N, ...): hard items are then taken for what they look like.
        n_classes: the truth is 0..n_classes-1, even where a class is absent from it.

    Classes are the sorted labels, and class-wise patterns name them by position: with fewer than
    ten classes those that do not exist are dropped, with a warning; any beyond the tenth are
    guessed.

    Example:
        >>> annotations = crowd(["cat", "dog"] * 500, "sym-0.2 dummy", k=3, seed=1)
        >>> len(annotations), annotations.n_annotators, annotations.classes.tolist()
        (3000, 100, ['cat', 'dog'])
    """
    return crowd_with_details(
        truth,
        case,
        k,
        seed,
        n_per_pattern=n_per_pattern,
        beta=beta,
        tail=tail,
        difficulty=difficulty,
        features=features,
        n_classes=n_classes,
    ).annotations


def crowd_with_details(
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
) -> SimulatedCrowd:
    """Do what `crowd` does, and keep what made the labels: patterns, references, confusions.

    Example:
        >>> made = crowd_with_details([0, 1] * 50, "pair-0.4 copy", k=2, n_per_pattern=1)
        >>> made.patterns, made.reference.tolist(), made.confusions()[1].tolist()
        (['pair-0.4', 'copy'], [-1, 0], [[0.6, 0.4], [0.4, 0.6]])
    """
    made = plan(
        truth,
        case,
        k,
        seed,
        n_per_pattern=n_per_pattern,
        beta=beta,
        tail=tail,
        difficulty=difficulty,
        features=features,
        n_classes=n_classes,
    )
    return SimulatedCrowd(_annotations(made), made)


def _annotations(made: Plan) -> Annotations:
    annotator = np.empty(made.n_items * made.k, dtype=np.int32)
    label = np.empty_like(annotator)
    for item, drawn, said in made.blocks():
        rows = slice(item[0] * made.k, (item[-1] + 1) * made.k)
        annotator[rows], label[rows] = drawn.ravel(), said.ravel()
    items = np.arange(made.n_items, dtype=np.int32)
    return Annotations(
        item=np.repeat(items, made.k),
        annotator=annotator,
        label=label,
        item_ids=np.arange(made.n_items),
        annotator_ids=np.arange(made.n_annotators),
        classes=made.classes,
    )
