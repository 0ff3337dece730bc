"""Which epoch of a run is meant. Every rule has a name, and the one that peeks is called oracle."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crowdwise.errors import InputError

RULES = {
    "last": "the final epoch",
    "validation": "the best epoch on the validation split",
    "oracle": "the best epoch on the test set: for tables only, never to pick a model",
}
_SCORES = {"validation": "validation", "oracle": "test"}


def select(history: Sequence[Mapping[str, Any]], rule: str) -> int:
    """Position in `history` of the epoch a rule picks; ties go to the earliest.

    Example:
        >>> history = [{"test": 0.7}, {"test": 0.9}, {"test": 0.8}]
        >>> select(history, "last"), select(history, "oracle")
        (2, 1)
    """
    if rule not in RULES:
        raise InputError(f"there is no selection rule {rule!r}; choose from {', '.join(RULES)}")
    if rule == "last":
        return len(history) - 1
    key = _SCORES[rule]
    if any(key not in epoch for epoch in history):
        raise InputError(f"rule {rule!r} needs a {key} score in every epoch; give a {key} split")
    return int(np.argmax([epoch[key] for epoch in history]))
