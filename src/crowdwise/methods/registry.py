"""Methods by name. Listing them loads no torch; a method's file is imported when it is asked for.

Another package adds a method through an entry point of the group `crowdwise.methods`:

    [project.entry-points."crowdwise.methods"]
    my-method = "my_package.my_method:MyMethod"
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, NamedTuple

from crowdwise.errors import InputError

if TYPE_CHECKING:
    from crowdwise.batches import CrowdShape
    from crowdwise.methods.base import MakeNet, Method

GROUP = "crowdwise.methods"


class Entry(NamedTuple):
    """Where a method lives, the paper's name for it, and one line about it."""

    home: str  # module:class
    paper: str
    summary: str


BUILT_IN: dict[str, Entry] = {
    "major-vote": Entry(
        "crowdwise.methods.majorvote:MajorVote", "MajorVote", "cross entropy on the majority label"
    ),
    "crowd-layer": Entry(
        "crowdwise.methods.crowdlayer:CrowdLayer",
        "CrowdLayer",
        "a confusion matrix per annotator, learned with the classifier",
    ),
    "doctor-net": Entry(
        "crowdwise.methods.doctornet:DoctorNet",
        "DoctorNet",
        "a classifier head per annotator, averaged to predict",
    ),
    "max-mig": Entry(
        "crowdwise.methods.maxmig:MaxMIG",
        "Max-MIG",
        "classifier and crowd agree by maximal mutual information",
    ),
    "conal": Entry(
        "crowdwise.methods.conal:CoNAL",
        "CoNAL",
        "common and individual confusions, mixed by a learned gate",
    ),
    "union-net": Entry(
        "crowdwise.methods.unionnet:UnionNet",
        "UnionNet",
        "all annotators as one source with one confusion matrix (UnionNet-B)",
    ),
    "ccc": Entry(
        "crowdwise.methods.ccc:CCC",
        "CCC",
        "two classifiers correct each other's confusion matrices, annotators in groups",
    ),
    "true-labels": Entry(
        "crowdwise.methods.truelabels:TrueLabels",
        "TrueLabels",
        "one perfect annotator: the upper bound, not a method for crowds",
    ),
}


def names() -> list[str]:
    """Every method known here, built in first, then those of other packages."""
    return [*BUILT_IN, *(point.name for point in _foreign() if point.name not in BUILT_IN)]


def summaries() -> dict[str, str]:
    """One line about every method; a foreign method says it in its docstring."""
    lines = {name: entry.summary for name, entry in BUILT_IN.items()}
    for point in _foreign():
        if point.name not in lines:
            lines[point.name] = (point.load().__doc__ or "").strip().split("\n")[0]
    return lines


def canonical(name: str) -> str:
    """The name a method is listed under: `CrowdLayer` and `crowdlayer` are `crowd-layer`.

    Example:
        >>> canonical("CrowdLayer")
        'crowd-layer'
    """
    for known in names():
        paper = BUILT_IN[known].paper if known in BUILT_IN else known
        if _plain(name) in (_plain(known), _plain(paper)):
            return known
    raise InputError(f"there is no method {name!r}; choose from {', '.join(names())}")


def find(name: str) -> type[Method]:
    """The class of a method, by any of its names."""
    known = canonical(name)
    if known in BUILT_IN:
        module, _, attribute = BUILT_IN[known].home.partition(":")
        found: type[Method] = getattr(import_module(module), attribute)
        return found
    loaded: type[Method] = next(point.load() for point in _foreign() if point.name == known)
    return loaded


def create(
    name: str, make_net: MakeNet, shape: CrowdShape, options: Mapping[str, Any] | None = None
) -> Method:
    """Build a method; with n_models > 1, one that is no pair by itself becomes an ensemble."""
    from crowdwise.methods.ensemble import Ensemble
    from crowdwise.methods.options import make_options

    kind = find(name)
    chosen = make_options(kind.options_type, options or {})
    if chosen.n_models > 1 and not kind.pairs_itself:
        return Ensemble(kind, make_net, shape, chosen)
    return kind(make_net, shape, chosen)


def _foreign() -> list[Any]:
    return list(entry_points(group=GROUP))


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
