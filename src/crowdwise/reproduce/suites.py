"""Which cells make up each of the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdwise.reproduce.cells import Cell

METHODS = [
    "major-vote",
    "crowd-layer",
    "doctor-net",
    "max-mig",
    "conal",
    "union-net",
    "ccc",
]
GROUPS = {"music": (5, 10, 20, 30, 44), "labelme": (5, 15, 25, 40, 59)}


def real(datasets: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """Every method on every data set; seeds vary slowest, so that early tables are complete."""
    return [Cell(d, method, seed) for seed in seeds for d in datasets for method in methods]


def ablation(datasets: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """CCC with one part taken away or turned the other way."""
    cells = []
    for seed in seeds:
        for dataset in datasets:
            n_annotators = GROUPS[dataset][-1]
            variants: dict[str, dict[str, Any]] = {
                "CCC": {},
                "no groups (G = R)": {"n_groups": n_annotators},
                "not coupled": {"coupled": False},
                "active=head": {"active": "head"},
                "active=head, virtual=head": {"active": "head", "virtual": "head"},
                "preset=reference": {"preset": "reference"},
            }
            cells.append(Cell(dataset, "crowd-layer", seed, label="no correction (CrowdLayer)"))
            cells += [Cell(dataset, "ccc", seed, o, label=name) for name, o in variants.items()]
    return cells


def groups(datasets: Sequence[str], seeds: Sequence[int]) -> list[Cell]:
    """CCC over the number of annotator groups G."""
    return [
        Cell(dataset, "ccc", seed, {"n_groups": G}, label=f"G = {G}")
        for seed in seeds
        for dataset in datasets
        for G in GROUPS[dataset]
    ]
