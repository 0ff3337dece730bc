"""Digits: 1,797 handwritten digits of 8×8 pixels, embedded in scikit-learn (Alpaydin & Kaynak)."""

import numpy as np

from crowdwise.datasets.dataset import Dataset
from crowdwise.datasets.source import Root

TEST = 360


def load(root: Root) -> Dataset:
    """64 brightnesses from 0 to 1, a fixed stratified split; the crowd must be simulated."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    x, y = (x / 16).astype(np.float32), y.astype(np.int64)
    x_train, x_test, y_train, y_test = train_test_split(
        x, y, test_size=TEST, random_state=0, stratify=y
    )
    return Dataset("digits", np.arange(10), x_train, y_train, x_test, y_test)
