"""Data sets by name."""

from collections.abc import Callable
from dataclasses import dataclass

from crowdwise.datasets import cifar10, cifar10n, digits, fashion_mnist, labelme, music, recipes
from crowdwise.datasets.dataset import Dataset
from crowdwise.datasets.recipes import Recipe
from crowdwise.datasets.source import Root
from crowdwise.errors import InputError

UNSTATED = "none stated: for research, not to be passed on"


@dataclass(frozen=True)
class Entry:
    """One data set as `data list` shows it."""

    summary: str
    licence: str
    load: Callable[[Root], Dataset]
    recipes: tuple[Recipe, ...] = ()  # the folders of files it reads


ENTRIES = {
    "music": Entry(
        "1,000 pieces of music, 124 standardised features, 10 genres, 44 annotators",
        UNSTATED,
        music.load,
        (recipes.MUSIC,),
    ),
    "music-raw": Entry(
        "MUSIC with the features as they are in the file",
        UNSTATED,
        music.load_raw,
        (recipes.MUSIC,),
    ),
    "labelme": Entry(
        "2,688 scenes as VGG-16 features, 10 views per training image, 8 classes, 59 annotators",
        UNSTATED,
        labelme.load,
        (recipes.LABELME,),
    ),
    "labelme-original": Entry(
        "LabelMe with its 1,000 training images alone",
        UNSTATED,
        labelme.load_original,
        (recipes.LABELME_ORIGINAL,),
    ),
    "cifar10": Entry(
        "60,000 photographs of 32×32 pixels, 10 classes; the crowd is simulated",
        UNSTATED,
        cifar10.load,
        (recipes.CIFAR10,),
    ),
    "cifar10n": Entry(
        "CIFAR-10 with three human labels per training image, 747 annotators",
        "CC BY-NC 4.0 (labels); CIFAR-10: none stated",
        cifar10n.load,
        (recipes.CIFAR10, recipes.CIFAR10N),
    ),
    "cifar10n-features": Entry(
        "CIFAR-10N on 256 frozen features of EfficientNet-Lite0",
        "CC BY-NC 4.0 (labels); CIFAR-10: none stated",
        cifar10n.load_features,
        (recipes.CIFAR10_FEATURES, recipes.CIFAR10N),
    ),
    "fashion-mnist": Entry(
        "70,000 pictures of clothes, 28×28 pixels, 10 classes; the crowd is simulated",
        "MIT",
        fashion_mnist.load,
        (recipes.FASHION_MNIST,),
    ),
    "digits": Entry(
        "1,797 handwritten digits of 8×8 pixels, embedded; the crowd is simulated",
        "CC BY 4.0",
        digits.load,
    ),
}


def names() -> list[str]:
    """What `load` knows."""
    return list(ENTRIES)


def describe(name: str) -> Entry:
    """One line on a data set, and its licence.

    Example:
        >>> describe("fashion-mnist").licence
        'MIT'
    """
    if name not in ENTRIES:
        raise InputError(f"no data set is named {name!r}; choose among {', '.join(names())}")
    return ENTRIES[name]


def load(name: str, root: Root = None) -> Dataset:
    """A data set by name: features or images, annotations, truth, splits.

    Args:
        name: one of `names()`.
        root: the folder that holds the data sets' folders; None takes
            CROWDWISE_DATA, or else the cache that `crowdwise data get` fills.

    Example:
        >>> load("digits").x_train.shape
        (1437, 64)
    """
    return describe(name).load(root)
