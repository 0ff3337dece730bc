"""LabelMe: 2,688 outdoor scenes, eight classes, 59 annotators (Rodrigues & Pereira, 2018).

The inputs are block-5 features of VGG-16, 4×4×512 per image, kept as float16 as in the file.
"""

import numpy as np

from crowdwise.datasets.dataset import Dataset, crowd
from crowdwise.datasets.source import Root, codes, folder, npz

CLASSES = np.array(
    [
        "highway",
        "insidecity",
        "tallbuilding",
        "street",
        "forest",
        "coast",
        "mountain",
        "opencountry",
    ]
)
SHAPE = (4, 4, 512)
TRAIN, VALID, TEST, ANNOTATORS, VIEWS = 1000, 500, 1188, 59, 10


def load(root: Root) -> Dataset:
    """The paper's 10,000: ten views of each training image, its labels repeated for all ten.

    Row 10·i + v is view v of image i; view 0 is the image itself.
    """
    return _load(root, "labelme", VIEWS)


def load_original(root: Root) -> Dataset:
    """The 1,000 training images alone."""
    return _load(root, "labelme-original", 1)


def _load(root: Root, name: str, views: int) -> Dataset:
    place = folder(root, "labelme")
    path = place / "labelme_vgg16_f16_original.npz"
    shapes = {
        "X_train": (TRAIN, *SHAPE),
        "X_valid": (VALID, *SHAPE),
        "X_test": (TEST, *SHAPE),
        "y_train": (TRAIN,),
        "y_valid": (VALID,),
        "y_test": (TEST,),
        "answers": (TRAIN, ANNOTATORS),
    }
    arrays = npz(path, shapes)
    x_train = arrays["X_train"]
    if views > 1:
        views_path = place / "labelme_vgg16_f16_train_aug10.npz"
        x_train = npz(views_path, {"X_train_aug": (TRAIN, views, *SHAPE)})["X_train_aug"]

    image = np.repeat(np.arange(TRAIN), views)  # which image each training row shows
    answers = arrays["answers"][image]
    item, annotator = np.nonzero(answers != -1)
    annotations = crowd(
        item,
        annotator,
        codes(path, "answers", answers[item, annotator], len(CLASSES)),
        n_items=len(image),
        annotator_ids=np.arange(ANNOTATORS),
        classes=CLASSES,
    )
    truth = {part: codes(path, part, arrays[part], len(CLASSES)) for part in arrays if "y_" in part}
    return Dataset(
        name,
        CLASSES,
        x_train.reshape(len(image), -1),
        truth["y_train"][image],
        arrays["X_test"].reshape(TEST, -1),
        truth["y_test"],
        annotations,
        arrays["X_valid"].reshape(VALID, -1),
        truth["y_valid"],
        info={"views": views, "image": image, "shape": SHAPE},
    )
