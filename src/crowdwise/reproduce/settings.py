"""How each data set is trained: the table in the paper's appendix, and ours where it is silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdwise.errors import InputError


@dataclass(frozen=True)
class Setting:
    """Net and options of one data set; `ccc` comes on top for CCC."""

    dataset: str
    net: str
    net_options: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    ccc: Mapping[str, Any] = field(default_factory=dict)
    crowd: Mapping[str, Any] = field(default_factory=dict)  # of a simulated one: case, k, …
    paper: str | None = None  # key of the paper's numbers; None: a setting of our own
    note: str = ""


_SETTINGS = [
    Setting(
        "music",
        net="music",
        options={"epochs": 200, "lr": 1e-2, "optimizer": "adam", "batch_size": 128},
        ccc={
            "warmup_epochs": 50,
            "n_groups": 20,
            "meta_size": 160,
            "correction_rate": 0.3,
            "active": "all",
        },
        paper="music",
    ),
    Setting(
        "labelme",
        net="fc128",
        options={"epochs": 200, "lr": 1e-4, "optimizer": "adam", "batch_size": 128},
        ccc={
            "warmup_epochs": 50,
            "n_groups": 25,
            "meta_size": 1000,
            "correction_rate": 0.5,
            "active": "all",
        },
        paper="labelme",
        note="VGG-16 features made anew, better than the paper's: compare the upper bounds.",
    ),
    Setting(
        "cifar10n-features",
        net="mlp",
        net_options={"hidden": (256,)},
        options={"epochs": 30, "lr": 1e-3, "optimizer": "adam", "batch_size": 128},
        ccc={"warmup_epochs": 5, "n_groups": 50, "meta_size": 1000, "correction_rate": 0.5},
        note="Frozen features and an MLP: not the paper's ResNet-34 on pixels.",
    ),
    Setting(
        "digits",
        net="fc128",
        options={"epochs": 60, "lr": 1e-3, "optimizer": "adam", "batch_size": 128},
        ccc={"warmup_epochs": 10, "n_groups": 30, "meta_size": 300, "correction_rate": 0.5},
        crowd={"case": "IND-I", "k": 3},
        note="A simulated crowd (IND-I, three labels per item); the paper has no such data set.",
    ),
]
SETTINGS = {setting.dataset: setting for setting in _SETTINGS}


def setting(dataset: str) -> Setting:
    """The setting of a data set, by name."""
    if dataset not in SETTINGS:
        raise InputError(f"no setting for data set {dataset!r}; choose from {', '.join(SETTINGS)}")
    return SETTINGS[dataset]
