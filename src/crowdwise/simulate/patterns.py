"""How an annotator errs: four independent patterns, and three that look at another annotator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdwise.errors import InputError

Labels = NDArray[np.int32]
Uniforms = NDArray[np.float64]

INDEPENDENT = ("sym", "pair", "class-wise", "dummy")
COPYING = ("copy", "supportive", "opposite")
_FORM = {"sym": "sym-0.3", "pair": "pair-0.6", "class-wise": "class-wise-1,3,4"}
_FORMS = (*_FORM.values(), "dummy", *COPYING)
_SHORT = {"class": "class-wise", "supp": "supportive", "oppo": "opposite"}


@dataclass(frozen=True)
class Pattern:
    """One row of the paper's table: a kind, its rate (sym, pair) or its classes (class-wise)."""

    kind: str
    rate: float = 0.0
    classes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in (*INDEPENDENT, *COPYING):
            raise InputError(f"pattern {self.kind!r} is not known; use one of {', '.join(_FORMS)}")
        if not 0 <= self.rate <= 1:
            raise InputError(f"pattern {self.name}: the rate must lie between 0 and 1")
        if any(c < 0 for c in self.classes):
            raise InputError(f"pattern {self.name}: classes are numbered from 0")

    @property
    def name(self) -> str:
        if self.kind in ("sym", "pair"):
            return f"{self.kind}-{self.rate:g}"
        if self.kind == "class-wise":
            return f"class-wise-{','.join(map(str, self.classes))}"
        return self.kind

    @property
    def copies(self) -> bool:
        return self.kind in COPYING

    def within(self, n_classes: int) -> Pattern:
        """Return the pattern without the listed classes that do not exist."""
        kept = tuple(c for c in self.classes if c < n_classes)
        return Pattern(self.kind, self.rate, kept)


def parse(text: str) -> Pattern:
    """Read a pattern as people write it.

    Example:
        >>> parse("sym-0.3"), parse("class-wise-2,5,9").classes, parse("supp").kind
        (Pattern(kind='sym', rate=0.3, classes=()), (2, 5, 9), 'supportive')
    """
    for kind in (*INDEPENDENT, *COPYING, *_SHORT):
        if text == kind or text.startswith(kind + "-"):
            break
    else:
        raise InputError(f"pattern {text!r} is not known; use one of {', '.join(_FORMS)}")
    detail, kind = text[len(kind) + 1 :], _SHORT.get(kind, kind)
    if kind in ("dummy", *COPYING):
        if detail:
            raise InputError(f"pattern {text!r}: {kind} takes no number; write {kind!r}")
        return Pattern(kind)
    try:
        rate = 0.0 if kind == "class-wise" else float(detail)
        classes = tuple(int(c) for c in detail.split(",")) if kind == "class-wise" else ()
    except ValueError as error:
        raise InputError(f"pattern {text!r} cannot be read; write it as {_FORM[kind]}") from error
    return Pattern(kind, rate, classes)


def confusion(pattern: Pattern, n_classes: int) -> NDArray[np.float64]:
    """Return an independent pattern's exact confusion matrix, row = true class. (C, C)

    Example:
        >>> confusion(parse("pair-0.6"), 3).round(1).tolist()
        [[0.4, 0.6, 0.0], [0.0, 0.4, 0.6], [0.6, 0.0, 0.4]]
    """
    right = np.eye(n_classes)
    chance = np.full((n_classes, n_classes), 1 / n_classes)
    match pattern.kind:
        case "sym":
            return (1 - pattern.rate) * right + pattern.rate * (1 - right) / (n_classes - 1)
        case "pair":
            return (1 - pattern.rate) * right + pattern.rate * np.roll(right, 1, axis=1)
        case "class-wise":
            return np.where(_listed(pattern, n_classes)[:, None], right, chance)
        case "dummy":
            return chance
    raise ValueError(f"{pattern.kind} has no confusion matrix of its own")


def draw(pattern: Pattern, truth: Labels, u: Uniforms, v: Uniforms, n_classes: int) -> Labels:
    """Draw an independent pattern's labels: u says whether it errs, v which class it names."""
    match pattern.kind:
        case "sym":
            wrong = (truth + 1 + _any_class(v, n_classes - 1)) % n_classes
            return np.where(u < pattern.rate, wrong, truth)
        case "pair":
            return np.where(u < pattern.rate, (truth + 1) % n_classes, truth).astype(np.int32)
        case "class-wise":
            return np.where(_listed(pattern, n_classes)[truth], truth, _any_class(v, n_classes))
        case "dummy":
            return _any_class(v, n_classes)
    raise ValueError(f"{pattern.kind} needs the label of a reference")


def follow(
    pattern: Pattern, truth: Labels, referred: Labels, v: Uniforms, n_classes: int
) -> Labels:
    """Draw a copying pattern's labels from those of its reference on the same items."""
    match pattern.kind:
        case "copy":
            return referred
        case "supportive":
            return np.where(referred == truth, truth, _any_class(v, n_classes))
        case "opposite":
            return np.where(referred != truth, truth, _any_class(v, n_classes))
    raise ValueError(f"{pattern.kind} has no reference")


def _any_class(v: Uniforms, n_classes: int) -> Labels:
    return (v * n_classes).astype(np.int32)


def _listed(pattern: Pattern, n_classes: int) -> NDArray[np.bool_]:
    return np.isin(np.arange(n_classes), pattern.classes)
