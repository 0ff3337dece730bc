"""Which cells make up each of the paper's tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crowdwise.errors import InputError
from crowdwise.methods import registry
from crowdwise.reproduce.cells import Cell
from crowdwise.reproduce.settings import setting
from crowdwise.simulate.cases import CASES

METHODS = ("major-vote", "crowd-layer", "doctor-net", "max-mig", "conal", "union-net", "ccc")
UPPER_BOUND = "true-labels"
GROUPS = {  # up to R
    "music": (5, 10, 20, 30, 44),
    "labelme": (5, 15, 25, 40, 59),
    "cifar10": (5, 15, 30, 60, 120, 250),
    "fashion-mnist": (5, 15, 30, 60, 120, 250),
    "digits": (5, 15, 30, 60, 120, 250),
}
LABELS_PER_ITEM = (1, 3, 5, 7, 9)
SIMULATED = {"case": "IND-I"}  # the crowd of the paper's two ablations


Cells = Callable[[Sequence[str], Sequence[str], Sequence[int]], list[Cell]]


@dataclass(frozen=True)
class Suite:
    """A table: what it shows, where, and its cells from (data sets, methods, seeds)."""

    title: str
    cells: Cells
    datasets: tuple[str, ...] = ("music", "labelme")
    methods: tuple[str, ...] = ()  # empty: the table is about one method and its variants
    note: str = ""  # what the page says of the paper's figure, where the tables cannot


def real(datasets: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """Every method on every data set; seeds vary slowest, so that early tables are complete."""
    return [Cell(d, method, seed) for seed in seeds for d in datasets for method in methods]


def ablation(datasets: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """CCC with one part taken away or turned the other way."""
    cells = []
    for seed in seeds:
        for dataset in datasets:
            variants: dict[str, dict[str, Any]] = {
                "CCC": {},
                "no groups (G = R)": {"n_groups": _groups(dataset)[-1]},
                "not coupled": {"coupled": False},
                "active=head": {"active": "head"},
                "active=head, virtual=head": {"active": "head", "virtual": "head"},
                "preset=reference": {"preset": "reference"},
            }
            cells.append(Cell(dataset, "crowd-layer", seed, label="no correction (CrowdLayer)"))
            cells += [Cell(dataset, "ccc", seed, o, label=name) for name, o in variants.items()]
    return cells


def synthetic(datasets: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """Every method on the paper's eight simulated crowds."""
    return [
        Cell(dataset, method, seed, crowd={"case": case})
        for seed in seeds
        for dataset in datasets
        for case in CASES
        for method in methods
    ]


def sparsity(datasets: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """Methods over the number of labels per item k."""
    return [
        Cell(dataset, method, seed, crowd={**SIMULATED, **({"k": k} if k != 3 else {})})
        for seed in seeds
        for dataset in datasets
        for k in LABELS_PER_ITEM
        for method in methods
    ]


def groups(datasets: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """CCC over the number of annotator groups G."""
    return [
        Cell(
            dataset,
            "ccc",
            seed,
            {"n_groups": G},
            label=f"G = {G}",
            crowd=SIMULATED if setting(dataset).crowd else {},
        )
        for seed in seeds
        for dataset in datasets
        for G in _groups(dataset)
    ]


SUITES = {
    "real": Suite("Real crowds, every method", real, methods=(*METHODS, UPPER_BOUND)),
    "ablation": Suite("CCC, one part at a time", ablation),
    "groups": Suite("CCC over the number of annotator groups", groups),
    "synthetic": Suite(
        "Simulated crowds, every method",
        synthetic,
        datasets=("fashion-mnist", "cifar10"),
        methods=METHODS,
    ),
    "clean": Suite(
        "True labels, the upper bound",
        real,
        datasets=("music", "labelme", "fashion-mnist", "cifar10"),
        methods=(UPPER_BOUND,),
    ),
    "sparsity": Suite(
        "From one label per item to nine",
        sparsity,
        datasets=("cifar10",),
        methods=("crowd-layer", "ccc"),
        note="The paper draws this for CIFAR-10 and prints one point of it: with one label per "
        "item CCC is 17.15 points ahead of CrowdLayer at the oracle epoch, 32.95 at the last.",
    ),
}


def cells_of(
    name: str, datasets: str, methods: str, n_seeds: int, scale: str = "paper"
) -> list[Cell]:
    """A suite's cells; `datasets` and `methods` are lists with commas, or "all".

    Example:
        >>> [(cell.dataset, cell.seed) for cell in cells_of("real", "music", "ccc", 2)]
        [('music', 0), ('music', 1)]
    """
    suite = find(name)
    if n_seeds < 1:
        raise InputError(f"--seeds is {n_seeds}; it must be at least 1")
    if methods != "all" and not suite.methods:
        raise InputError(f"the suite {name} names its own methods; leave --methods out")
    where = _listed(datasets) if datasets != "all" else suite.datasets
    who = _listed(methods) if methods != "all" else suite.methods
    own = {dataset: setting(dataset, scale).scale for dataset in where}
    for method in who:
        if method not in registry.names():
            known = ", ".join(registry.names())
            raise InputError(f"there is no method {method!r}; choose from all, {known}")
    return [
        replace(cell, scale=own[cell.dataset]) for cell in suite.cells(where, who, range(n_seeds))
    ]


def find(name: str) -> Suite:
    """A suite by name."""
    if name not in SUITES:
        raise InputError(f"there is no suite {name!r}; choose from {', '.join(SUITES)}")
    return SUITES[name]


def _groups(dataset: str) -> tuple[int, ...]:
    if dataset not in GROUPS:
        known = ", ".join(GROUPS)
        raise InputError(f"no group counts are laid down for {dataset!r}; choose from {known}")
    return GROUPS[dataset]


def _listed(names: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
