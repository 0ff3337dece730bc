"""crowdwise trains a classifier from a crowd's labels and tells whom in the crowd to trust.

Importing this package loads no torch and no data-frame library: every public name is fetched
from its room on first use (PEP 562), so `crowdwise --help` answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from crowdwise import datasets, simulate
    from crowdwise.aggregate import aggregate
    from crowdwise.annotations import Annotations, read_annotations, stats
    from crowdwise.errors import InputError
    from crowdwise.estimator import CrowdClassifier, load

# name -> where it lives; None means that the name is a module of its own (aggregate is a room
# that can be called).
_HOMES: dict[str, tuple[str, str | None]] = {
    "Annotations": ("crowdwise.annotations.table", "Annotations"),
    "CrowdClassifier": ("crowdwise.estimator", "CrowdClassifier"),
    "InputError": ("crowdwise.errors", "InputError"),
    "aggregate": ("crowdwise.aggregate", None),
    "datasets": ("crowdwise.datasets", None),
    "load": ("crowdwise.estimator", "load"),
    "read_annotations": ("crowdwise.annotations.readers", "read_annotations"),
    "simulate": ("crowdwise.simulate", None),
    "stats": ("crowdwise.annotations.stats", None),
}

__all__ = [
    "Annotations",
    "CrowdClassifier",
    "InputError",
    "aggregate",
    "datasets",
    "load",
    "read_annotations",
    "simulate",
    "stats",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'crowdwise' has no attribute {name!r}")
    home, attribute = _HOMES[name]
    module = import_module(home)
    value = module if attribute is None else getattr(module, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
