"""The methods by name, and the function behind `crowdwise.aggregate(...)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from crowdwise.aggregate.consensus import Consensus
from crowdwise.aggregate.dawid_skene import DawidSkeneOptions, dawid_skene
from crowdwise.aggregate.glad import GladOptions, glad
from crowdwise.aggregate.grouped import GroupedOptions, grouped_dawid_skene
from crowdwise.aggregate.mace import MaceOptions, mace
from crowdwise.aggregate.majority import MajorityOptions, majority
from crowdwise.aggregate.one_coin import OneCoinOptions, one_coin
from crowdwise.aggregate.options import build
from crowdwise.aggregate.weighted import WeightedOptions, weighted_majority
from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError


@dataclass(frozen=True)
class Method:
    summary: str
    options: type[Any]
    function: Callable[[Annotations, Any], Consensus]


METHODS: dict[str, Method] = {
    "majority": Method("most votes win", MajorityOptions, majority),
    "weighted-majority": Method(
        "votes count by how often their annotator agrees", WeightedOptions, weighted_majority
    ),
    "dawid-skene": Method(
        "a confusion matrix per annotator, smoothed by the crowd's",
        DawidSkeneOptions,
        dawid_skene,
    ),
    "grouped-dawid-skene": Method(
        "the same, with annotators in groups that lend them labels",
        GroupedOptions,
        grouped_dawid_skene,
    ),
    "one-coin": Method("one accuracy per annotator", OneCoinOptions, one_coin),
    "glad": Method("ability per annotator, difficulty per item", GladOptions, glad),
    "mace": Method("annotators know the truth or spam by habit", MaceOptions, mace),
}


def aggregate(annotations: Annotations, method: str = "dawid-skene", **options: Any) -> Consensus:
    """Infer the items' true labels from the crowd's labels alone.

    Args:
        annotations: the crowd's labels.
        method: one of `crowdwise.aggregate.METHODS`.
        options: fields of that method's options, such as `smoothing=0.5`.

    Example:
        >>> item = [0, 0, 0, 1, 1, 1]
        >>> crowd = Annotations.from_triples(item, [0, 1, 2] * 2, list("aabbba"))
        >>> aggregate(crowd, "majority").labels.tolist()
        ['a', 'b']
    """
    if method not in METHODS:
        raise InputError(f"method {method!r} is unknown; choose one of {', '.join(METHODS)}")
    if not isinstance(annotations, Annotations):
        raise InputError(
            f"aggregate wants Annotations, not {type(annotations).__name__}; make them with "
            "Annotations.from_frame, from_dense or from_triples"
        )
    chosen = METHODS[method]
    return chosen.function(annotations, build(chosen.options, method, options))
