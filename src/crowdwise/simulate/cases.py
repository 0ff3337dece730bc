"""The paper's eight cases (Table "confusion types"): five patterns each, in table order."""

from __future__ import annotations

from collections.abc import Sequence

from crowdwise.errors import InputError
from crowdwise.simulate.patterns import Pattern, parse

Case = str | Sequence[str | Pattern]

CASES: dict[str, tuple[str, ...]] = {
    "IND-I": ("sym-0.3", "sym-0.5", "pair-0.6", "class-wise-1,3,4,6,8", "dummy"),
    "IND-II": ("sym-0.4", "class-wise-2,5,9", "pair-0.6", "class-wise-0,6,8", "dummy"),
    "IND-III": ("pair-0.3", "pair-0.6", "class-wise-0,4,5", "class-wise-1,3,4,6,8", "dummy"),
    "IND-IV": ("sym-0.3", "sym-0.5", "sym-0.7", "pair-0.5", "pair-0.3"),
    "COR-I": ("sym-0.4", "class-wise-2,5,9", "dummy", "supportive", "opposite"),
    "COR-II": ("pair-0.5", "class-wise-0,6,8", "supportive", "opposite", "copy"),
    "COR-III": ("pair-0.4", "sym-0.5", "opposite", "supportive", "copy"),
    "COR-IV": ("sym-0.5", "pair-0.7", "pair-0.3", "opposite", "supportive"),
}


def patterns_of(case: Case) -> tuple[Pattern, ...]:
    """Return a case's patterns: one of the paper's by name, or patterns of your own.

    Example:
        >>> [pattern.name for pattern in patterns_of("ind-iv")]
        ['sym-0.3', 'sym-0.5', 'sym-0.7', 'pair-0.5', 'pair-0.3']
        >>> [pattern.name for pattern in patterns_of("sym-0.2 dummy copy")]
        ['sym-0.2', 'dummy', 'copy']
    """
    if isinstance(case, str):
        written: Sequence[str | Pattern] = CASES.get(case.strip().upper(), case.split())
    else:
        written = case
    try:
        patterns = tuple(p if isinstance(p, Pattern) else parse(p) for p in written)
    except InputError as error:
        raise InputError(f"case {case!r}: {error}; the paper's are {', '.join(CASES)}") from error
    if not patterns:
        raise InputError(f"case {case!r} has no pattern; the paper's are {', '.join(CASES)}")
    if patterns[0].copies:
        raise InputError(
            f"case {case!r} begins with {patterns[0].kind}, which follows an annotator of an"
            " earlier pattern; put an independent pattern first"
        )
    return patterns
