"""The public names of the floor plan, and the calls it shows, pinned."""

import importlib.util
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import crowdwise

# name -> where it is built; a name whose room is not built yet is not looked up
NAMES = {
    "Annotations": "crowdwise.annotations",
    "CrowdClassifier": "crowdwise.estimator",
    "InputError": "crowdwise.errors",
    "aggregate": "crowdwise.aggregate",
    "datasets": "crowdwise.datasets",
    "load": "crowdwise.estimator",
    "read_annotations": "crowdwise.annotations.readers",
    "simulate": "crowdwise.simulate",
    "stats": "crowdwise.annotations.stats",
}
ANNOTATIONS = {
    *("item", "annotator", "label", "item_ids", "annotator_ids", "classes"),
    *("n_items", "n_annotators", "n_classes", "repeats_dropped", "conflicts_settled"),
    *("from_triples", "from_frame", "from_dense", "from_records"),
    *("to_triples", "to_frame", "to_dense", "to_records"),
    *("subset", "by_item", "by_annotator", "votes"),
}
BETWEEN_ROOMS = {"from_coded", "frame_kind"}  # without an underscore, and still not promised
ESTIMATOR = {"fit", "predict", "predict_proba", "score", "save"}
NEEDED = inspect.Parameter.empty

# The parameters a call of the floor plan relies on, in order, with their defaults. More may follow
# as long as they are optional.
CALLS: dict[str, dict[str, Any]] = {
    "Annotations.from_triples": {
        "item": NEEDED,
        "annotator": NEEDED,
        "label": NEEDED,
        "classes": None,
    },
    "Annotations.from_frame": {"df": NEEDED, "item": None, "annotator": None, "label": None},
    "Annotations.from_dense": {"matrix": NEEDED, "missing": -1},
    "read_annotations": {"path": NEEDED},
    "stats.noise_rates": {"annotations": NEEDED, "truth": NEEDED},
    "simulate.crowd": {"truth": NEEDED, "case": "IND-I", "k": 3, "seed": 0},
    "aggregate": {"annotations": NEEDED, "method": "dawid-skene"},
    "CrowdClassifier": {"method": "ccc", "net": "auto", "epochs": None, "seed": 0},
    "load": {"folder": NEEDED},
    "datasets.load": {"name": NEEDED},
}


def is_built(home: str) -> bool:
    spec = importlib.util.find_spec(home)
    return spec is not None and spec.origin is not None  # an empty folder has no origin


def public(name: str) -> Any:
    first, *rest = name.split(".")
    if not is_built(NAMES[first]):
        pytest.skip(f"{NAMES[first]} is not built yet")
    value = getattr(crowdwise, first)
    for part in rest:
        value = getattr(value, part)
    return value


def test_the_package_exports_these_names_and_no_others() -> None:
    assert crowdwise.__all__ == sorted(NAMES)
    assert dir(crowdwise) == sorted([*NAMES, "__version__"])


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_there(name: str) -> None:
    assert public(name) is not None


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_of_the_floor_plan_are_legal(name: str) -> None:
    check_call(public(name), CALLS[name])


def check_call(function: Callable[..., Any], call: dict[str, Any]) -> None:
    parameters = list(inspect.signature(function).parameters.values())
    promised, more = parameters[: len(call)], parameters[len(call) :]
    assert {p.name: p.default for p in promised} == call
    assert [p.name for p in promised] == list(call)
    optional = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    assert [p.name for p in more if p.default is NEEDED and p.kind not in optional] == []


def test_a_call_with_another_needed_parameter_is_refused() -> None:
    def load(name: str, folder: str) -> None: ...

    with pytest.raises(AssertionError):
        check_call(load, CALLS["datasets.load"])


def test_the_attributes_of_annotations() -> None:
    annotations = public("Annotations").from_triples(["a"], ["x"], ["cat"])
    assert {name for name in dir(annotations) if not name.startswith("_")} == (
        ANNOTATIONS | BETWEEN_ROOMS
    )


def test_the_estimator_has_the_promised_methods() -> None:
    assert set(dir(public("CrowdClassifier"))) >= ESTIMATOR


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'oracle'"):
        crowdwise.oracle  # noqa: B018
