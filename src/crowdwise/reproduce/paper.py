"""The paper's numbers, by our names of data sets and methods."""

from __future__ import annotations

import json
from importlib.resources import files

from crowdwise.methods.registry import BUILT_IN
from crowdwise.reproduce.settings import SETTINGS
from crowdwise.results.table import Spread

NAMES = {name: entry.paper for name, entry in BUILT_IN.items()}
SEEDS = 3
_RULES = {"best": "oracle", "last": "last"}  # the paper's word for it, and ours


def paper_numbers() -> dict[tuple[str, str], dict[str, Spread]]:
    """Accuracies on real crowds and on clean labels, by (data set, method).

    Example:
        >>> str(paper_numbers()["music", "ccc"]["last"])
        '72.89 ± 0.68'
    """
    text = (files("crowdwise.reproduce") / "paper.json").read_text(encoding="utf-8")
    printed = json.loads(text)
    found = {}
    for dataset, setting in SETTINGS.items():
        tables = {name: printed["real"].get(setting.paper, {}).get(NAMES[name]) for name in NAMES}
        tables["true-labels"] = printed["clean_labels"].get(setting.paper)
        for method, table in tables.items():
            if table:
                found[dataset, method] = {
                    ours: Spread(table[theirs]["mean"], table[theirs]["std"], SEEDS)
                    for theirs, ours in _RULES.items()
                }
    return found
