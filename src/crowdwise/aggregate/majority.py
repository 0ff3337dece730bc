"""Majority vote."""

from __future__ import annotations

from dataclasses import dataclass

from crowdwise.aggregate.consensus import Consensus, consensus
from crowdwise.aggregate.em import counts_of
from crowdwise.aggregate.packed import pack
from crowdwise.aggregate.votes import Ties, leaders, vote_shares
from crowdwise.annotations.table import Annotations


@dataclass(frozen=True)
class MajorityOptions:
    ties: Ties = "random"  # or "lowest": the first of the tied classes
    seed: int = 0  # draws the winner of a tie


def majority(annotations: Annotations, options: MajorityOptions) -> Consensus:
    """The class with most votes; the probabilities are the vote shares."""
    packed = pack(annotations)
    proba = vote_shares(annotations)
    rows = proba if packed.labelled.all() else proba[packed.labelled]
    return consensus(
        "majority",
        annotations,
        packed,
        rows,
        counts_of(packed, rows),
        codes=leaders(proba, options.ties, options.seed),
    )
