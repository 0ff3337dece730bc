"""Truth inference: what the items' labels are, by the crowd's labels alone.

The package can be called, `crowdwise.aggregate(annotations, method="dawid-skene")`, and its
modules imported, whichever happens first.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from crowdwise.aggregate.consensus import Consensus
from crowdwise.aggregate.registry import METHODS, aggregate
from crowdwise.aggregate.votes import majority_labels, vote_shares
from crowdwise.annotations.table import Annotations

__all__ = ["METHODS", "Consensus", "aggregate", "majority_labels", "vote_shares"]


class _CallableRoom(ModuleType):
    def __call__(
        self, annotations: Annotations, method: str = "dawid-skene", **options: Any
    ) -> Consensus:
        return aggregate(annotations, method, **options)


_CallableRoom.__call__.__doc__ = aggregate.__doc__
sys.modules[__name__].__class__ = _CallableRoom
