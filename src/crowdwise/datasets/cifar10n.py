"""CIFAR-10N: three human labels for each of CIFAR-10's training images, 747 annotators
(Wei et al., 2022); with the pixels, or with frozen features of EfficientNet-Lite0.

The first 4,500 images of each class train, the other 5,000 validate, as in the paper. Annotators
who labelled only validation images keep their place and have no label.
"""

import numpy as np
from numpy.typing import NDArray

from crowdwise.annotations.table import Annotations
from crowdwise.datasets import cifar10
from crowdwise.datasets.dataset import Dataset, crowd, first_of_each_class
from crowdwise.datasets.source import Root, codes, folder, npz
from crowdwise.errors import InputError

ANNOTATORS, LABELS = 747, 3


def load(root: Root) -> Dataset:
    """CIFAR-10's pixels with the crowd of CIFAR-10N."""
    pictures = cifar10.load(root)
    assert pictures.y_train is not None
    annotations, train = _crowd(root)
    if not np.array_equal(pictures.y_train, train["truth"]):
        raise InputError(
            f"{folder(root, 'cifar10')}: the images are not in CIFAR-10's order, so that the "
            "crowd's labels would go to the wrong ones; get the files again"
        )
    return Dataset(
        "cifar10n",
        pictures.classes,
        pictures.x_train,
        pictures.y_train,
        pictures.x_test,
        pictures.y_test,
        annotations,
        pictures.x_valid,
        pictures.y_valid,
        pictures.info,
    )


def load_features(root: Root) -> Dataset:
    """256 principal components of the 1,280 features, float32."""
    path = folder(root, "cifar10-features") / "lite0_pca256_f16.npz"
    shapes = {
        "train": (cifar10.TRAIN, 256),
        "test": (cifar10.TEST, 256),
        "y_train": (cifar10.TRAIN,),
        "y_test": (cifar10.TEST,),
    }
    arrays = npz(path, shapes)
    y = codes(path, "y_train", arrays["y_train"], len(cifar10.CLASSES))
    annotations, train = _crowd(root)
    rows, others = train["rows"], train["others"]
    if not np.array_equal(y[rows], train["truth"]):
        raise InputError(f"{path}: the rows are not in CIFAR-10's order; get the file again")
    return Dataset(
        "cifar10n-features",
        cifar10.CLASSES,
        arrays["train"][rows].astype(np.float32),
        y[rows],
        arrays["test"].astype(np.float32),
        codes(path, "y_test", arrays["y_test"], len(cifar10.CLASSES)),
        annotations,
        arrays["train"][others].astype(np.float32),
        y[others],
        info={"train_rows": rows, "valid_rows": others},
    )


def _crowd(root: Root) -> tuple[Annotations, dict[str, NDArray[np.int64]]]:
    """The crowd over the training rows, and which rows of CIFAR-10 these are."""
    path = folder(root, "cifar10n") / "cifar10n_compact.npz"
    names = [f"random_label{k}" for k in range(1, LABELS + 1)]
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys([*names, "clean_label"], (cifar10.TRAIN,))
    arrays = npz(path, {**shapes, "worker": (cifar10.TRAIN, LABELS)})
    truth = codes(path, "clean_label", arrays["clean_label"], len(cifar10.CLASSES))
    label = np.stack([arrays[name] for name in names], axis=1)
    train = first_of_each_class(truth, cifar10.TRAIN_SHARE)
    rows = np.flatnonzero(train)
    annotations = crowd(
        np.repeat(np.arange(len(rows)), LABELS),
        codes(path, "worker", arrays["worker"][rows].ravel(), ANNOTATORS),
        codes(path, "random_label", label[rows].ravel(), len(cifar10.CLASSES)),
        n_items=len(rows),
        annotator_ids=np.arange(ANNOTATORS),
        classes=cifar10.CLASSES,
    )
    return annotations, {
        "rows": rows,
        "others": np.flatnonzero(~train),
        "truth": truth[rows],
    }
