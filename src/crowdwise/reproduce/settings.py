"""How each data set is trained: the table in the paper's appendix, and ours where it is silent.

A setting is known by data set and scale. `paper` is the paper's own, on a GPU where it takes one;
`cpu` is smaller, finishes on a processor, and every table made with it says that it is not the
paper's. A data set that a processor trains in the paper's setting has no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdwise.errors import InputError


@dataclass(frozen=True)
class Setting:
    """Net and options of one data set at one scale; `ccc` comes on top for CCC."""

    dataset: str
    net: str
    net_options: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    ccc: Mapping[str, Any] = field(default_factory=dict)
    crowd: Mapping[str, Any] = field(default_factory=dict)  # of a simulated one: case, k, …
    paper: str | None = None  # key of the paper's numbers; None: the paper has no such data set
    note: str = ""
    scale: str = "paper"
    data: str = ""  # what is loaded, where it is not called as the data set is
    items: int | None = None  # training items kept, drawn once for all runs; None: all
    judged: int | None = None  # test and validation items kept, the first; None: all


_IMAGES = {  # the paper's training of CIFAR-10, CIFAR-10N and Fashion-MNIST
    "epochs": 60,
    "lr": 0.01,
    "optimizer": "sgd",
    "momentum": 0.9,
    "weight_decay": 5e-4,
    "schedule": "step",
    "milestones": (40,),
    "batch_size": 128,
}
_IMAGES_CCC = {
    "warmup_epochs": 10,
    "n_groups": 30,
    "meta_size": 1000,
    "correction_rate": 0.5,
    "active": "head",
}

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
        net_options={"hidden": (128,)},
        options={"epochs": 4, "lr": 1e-3, "optimizer": "adam", "batch_size": 128},
        ccc={"warmup_epochs": 1, "n_groups": 50, "meta_size": 1000, "correction_rate": 0.5},
        note="Frozen features and an MLP, four epochs: not the paper's ResNet-34 on pixels.",
    ),
    Setting(
        "digits",
        net="fc128",
        options={"epochs": 60, "lr": 1e-3, "optimizer": "adam", "batch_size": 128},
        ccc={"warmup_epochs": 10, "n_groups": 30, "meta_size": 300, "correction_rate": 0.5},
        crowd={"case": "IND-I", "k": 3},
        note="A simulated crowd (IND-I, three labels per item where not said otherwise); the paper "
        "has no such data set.",
    ),
    Setting(
        "cifar10",
        net="resnet34",
        options=_IMAGES,
        ccc=_IMAGES_CCC,
        crowd={"k": 3},
        paper="cifar10",
    ),
    Setting(
        "cifar10n",
        net="resnet34",
        options=_IMAGES,
        ccc={**_IMAGES_CCC, "n_groups": 50},
        paper="cifar10n",
    ),
    Setting(
        "fashion-mnist",
        net="resnet18",
        options=_IMAGES,
        ccc=_IMAGES_CCC,
        crowd={"k": 3},
        paper="fashion_mnist",
    ),
]
_SMALLER = [
    Setting(
        "fashion-mnist",
        net="cnn",
        net_options={"width": 8, "stride": 2},
        options={**_IMAGES, "epochs": 30, "milestones": (20,), "lr": 0.05},
        ccc={**_IMAGES_CCC, "warmup_epochs": 5},
        crowd={"k": 3},
        paper="fashion_mnist",
        note="4,000 of the 54,000 training images, a CNN of three layers in place of ResNet-18, 30 "
        "epochs in place of 60 at a rate of 0.05 in place of 0.01, the first 2,000 test images.",
        scale="cpu",
        items=4000,
        judged=2000,
    ),
]
SETTINGS = {setting.dataset: setting for setting in _SETTINGS}
SMALLER = {setting.dataset: setting for setting in _SMALLER}
SCALES = ("paper", "cpu")


def setting(dataset: str, scale: str = "paper") -> Setting:
    """The setting of a data set, by name; the paper's where there is no smaller one.

    Example:
        >>> setting("fashion-mnist").net, setting("fashion-mnist", "cpu").net
        ('resnet18', 'cnn')
    """
    if scale not in SCALES:
        raise InputError(f"there is no scale {scale!r}; choose from {', '.join(SCALES)}")
    if dataset not in SETTINGS:
        raise InputError(f"no setting for data set {dataset!r}; choose from {', '.join(SETTINGS)}")
    return SMALLER.get(dataset, SETTINGS[dataset]) if scale == "cpu" else SETTINGS[dataset]
