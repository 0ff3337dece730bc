"""The paper's numbers, by our names of data sets and methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from crowdwise.methods.registry import BUILT_IN
from crowdwise.reproduce.settings import SETTINGS
from crowdwise.results.table import Spread

NAMES = {name: entry.paper for name, entry in BUILT_IN.items()}
SEEDS = 3
_RULES = {"best": "oracle", "last": "last"}  # the paper's word for it, and ours


def paper_numbers() -> dict[tuple[str, str], dict[str, Spread]]:
    """Accuracies by (place, method): real crowds, clean labels, simulated crowds.

    Example:
        >>> str(paper_numbers()["music", "ccc"]["last"])
        '72.89 ± 0.68'
        >>> str(paper_numbers()["cifar10, COR-IV", "ccc"]["oracle"])
        '82.72 ± 0.11'
    """
    printed = _printed()
    found = {}
    for dataset, setting in SETTINGS.items():
        if not setting.paper:
            continue
        tables = {dataset: printed["real"].get(setting.paper, {})}
        for case, table in printed["synthetic"].get(setting.paper, {}).items():
            tables[f"{dataset}, {case}"] = table
        for place, table in tables.items():
            for method, name in NAMES.items():
                if name in table:
                    found[place, method] = _spreads(table[name])
        if clean := printed["clean_labels"].get(setting.paper):
            found[dataset, "true-labels"] = _spreads(clean)
    return found


def paper_noise(dataset: str, case: str | None = None) -> tuple[float, float] | None:
    """NR1 and NR2 in percent as the paper's table of data sets has them.

    Example:
        >>> paper_noise("cifar10", "COR-III"), paper_noise("music")
        ((9.08, 44.99), (12.71, 43.97))
    """
    rates, key = _printed()["noise_rates_percent"], SETTINGS[dataset].paper
    found = rates["real"].get(key) if case is None else rates.get(key, {}).get(case)
    return (found[0], found[1]) if found else None


def paper_facts(dataset: str) -> dict[str, float]:
    """Sizes of a data set's splits, its annotators, labels per item, as the paper has them."""
    found: dict[str, float] = _printed()["facts"].get(SETTINGS[dataset].paper, {})
    return found


def _printed() -> dict[str, Any]:
    text = (files("crowdwise.reproduce") / "paper.json").read_text(encoding="utf-8")
    printed: dict[str, Any] = json.loads(text)
    return printed


def _spreads(table: Mapping[str, Mapping[str, float]]) -> dict[str, Spread]:
    return {
        ours: Spread(table[theirs]["mean"], table[theirs]["std"], SEEDS)
        for theirs, ours in _RULES.items()
    }
