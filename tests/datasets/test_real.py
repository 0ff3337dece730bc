"""The real data: shapes, counts, the paper's noise rates, labels beside their items."""

import os
from pathlib import Path

import numpy as np
import pytest

from crowdwise import datasets
from crowdwise.annotations.table import Annotations
from crowdwise.datasets import Dataset

ROOT = os.environ.get("CROWDWISE_DATA")


def load(name: str, *folders: str) -> Dataset:
    if not ROOT:
        pytest.skip("CROWDWISE_DATA is not set: the real data is not here")
    for folder in folders or (name.partition("-")[0],):
        if not (Path(ROOT) / folder).is_dir():
            pytest.skip(f"{folder}/ is not in CROWDWISE_DATA")
    return datasets.load(name)


def crowd_of(data: Dataset) -> tuple[Annotations, np.ndarray]:
    assert data.annotations is not None
    assert data.y_train is not None
    return data.annotations, data.y_train


def noise_rates(data: Dataset) -> tuple[float, float]:
    """NR1: items nobody labelled right, of all items. NR2: wrong labels, of all labels."""
    crowd, truth = crowd_of(data)
    right = crowd.label == truth[crowd.item]
    someone = np.zeros(len(truth), dtype=bool)
    someone[crowd.item[right]] = True
    return round(100 * float((~someone).mean()), 2), round(100 * float((~right).mean()), 2)


def vote_accuracy(data: Dataset) -> float:
    crowd, truth = crowd_of(data)
    votes = np.zeros((crowd.n_items, crowd.n_classes))
    np.add.at(votes, (crowd.item, crowd.label), 1)
    return float((votes.argmax(1) == truth).mean())


def centroid_accuracy(data: Dataset) -> float:
    """Test accuracy of the nearest class mean: far above chance only if x and y belong together."""
    x, x_test = (a.reshape(len(a), -1).astype(np.float32) for a in (data.x_train, data.x_test))
    means = np.stack([x[data.y_train == c].mean(0) for c in range(len(data.classes))])
    distance = (means**2).sum(1) - 2 * x_test @ means.T
    return float((distance.argmin(1) == data.y_test).mean())


def check_form(data: Dataset) -> None:
    for x, y in [
        (data.x_train, data.y_train),
        (data.x_valid, data.y_valid),
        (data.x_test, data.y_test),
    ]:
        assert (x is None) == (y is None)
        if x is not None and y is not None:
            assert len(x) == len(y)
            assert x.dtype in (np.float16, np.float32)
            assert x.flags.writeable  # torch.from_numpy warns otherwise
            assert np.isfinite(x).all()
            assert y.dtype == np.int64
            assert set(np.unique(y)) == set(range(len(data.classes)))
    if data.annotations is not None:
        crowd, _ = crowd_of(data)
        assert crowd.item.dtype == crowd.annotator.dtype == crowd.label.dtype == np.int32
        np.testing.assert_array_equal(crowd.item_ids, np.arange(len(data.x_train)))
        np.testing.assert_array_equal(crowd.classes, data.classes)
        assert crowd.item.max() < crowd.n_items
        assert crowd.annotator.max() < crowd.n_annotators
        assert crowd.label.max() < crowd.n_classes


def test_music() -> None:
    data = load("music")
    check_form(data)
    crowd, truth = crowd_of(data)
    assert (data.x_train.shape, data.x_test.shape, data.x_valid) == ((700, 124), (300, 124), None)
    assert (len(crowd), crowd.n_annotators, crowd.n_classes) == (2945, 44, 10)
    assert noise_rates(data) == (12.71, 43.97)
    np.testing.assert_allclose(data.x_train.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(data.x_train.std(0), 1, atol=1e-5)
    genres = [str(piece).split(".")[0] for piece in data.info["pieces"]]
    assert [str(c) for c in data.classes[truth]] == genres
    assert centroid_accuracy(data) > 0.4


def test_raw_music_is_music_before_standardising() -> None:
    raw, data = load("music-raw"), load("music")
    again = (raw.x_test - raw.x_train.mean(0)) / raw.x_train.std(0)
    np.testing.assert_allclose(again, data.x_test, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(crowd_of(raw)[0].label, crowd_of(data)[0].label)


def test_labelme() -> None:
    data = load("labelme-original")
    check_form(data)
    crowd, _ = crowd_of(data)
    assert data.x_valid is not None
    assert [len(x) for x in (data.x_train, data.x_valid, data.x_test)] == [1000, 500, 1188]
    assert (len(crowd), crowd.n_annotators, crowd.n_classes) == (2547, 59, 8)
    assert noise_rates(data) == (11.10, 25.95)
    assert vote_accuracy(data) > 0.7
    assert centroid_accuracy(data) > 0.7


def test_labelme_gives_every_view_the_labels_of_its_image() -> None:
    data, original = load("labelme"), load("labelme-original")
    check_form(data)
    (crowd, truth), (once, once_truth) = crowd_of(data), crowd_of(original)
    assert data.x_train.shape == (10_000, 8192)
    assert (len(crowd), crowd.n_annotators) == (25_470, 59)
    assert noise_rates(data) == noise_rates(original)
    for view in range(10):
        rows = crowd.item % 10 == view
        np.testing.assert_array_equal(crowd.item[rows] // 10, once.item)
        np.testing.assert_array_equal(crowd.annotator[rows], once.annotator)
        np.testing.assert_array_equal(crowd.label[rows], once.label)
        np.testing.assert_array_equal(truth[view::10], once_truth)
    np.testing.assert_array_equal(data.info["image"], np.arange(10_000) // 10)

    def likeness(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = a.astype(np.float32), b.astype(np.float32)
        return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)

    assert likeness(data.x_train[::40], original.x_train[::4]).min() > 0.99
    # another view is like its own image, not like the next one
    third, own, other = data.x_train[3::40], original.x_train[::4], original.x_train[1::4]
    assert (likeness(third, own) > likeness(third, other)).mean() > 0.95


def test_cifar10n_features() -> None:
    data = load("cifar10n-features", "cifar10-features", "cifar10n")
    check_form(data)
    crowd, truth = crowd_of(data)
    assert data.x_valid is not None
    assert [x.shape for x in (data.x_train, data.x_valid, data.x_test)] == [
        (45_000, 256),
        (5_000, 256),
        (10_000, 256),
    ]
    assert set(np.bincount(truth)) == {4500}
    assert (len(crowd), crowd.n_annotators) == (135_000, 747)
    assert noise_rates(data) == (2.13, 17.71)
    assert vote_accuracy(data) > 0.85
    assert centroid_accuracy(data) > 0.8
    rows = np.concatenate([data.info["train_rows"], data.info["valid_rows"]])
    assert sorted(rows) == list(range(50_000))


@pytest.mark.slow
def test_cifar10n_pixels() -> None:
    data = load("cifar10n", "cifar10", "cifar10n")
    check_form(data)
    assert data.x_train.shape == (45_000, 3, 32, 32)
    assert 0 == data.x_train.min() < data.x_train.max() == 1
    assert noise_rates(data) == (2.13, 17.71)
    assert centroid_accuracy(data) > 0.25  # pixels say little, chance says 0.1


def test_fashion_mnist() -> None:
    data = load("fashion-mnist", "fashion-mnist")
    check_form(data)
    assert data.annotations is None
    assert data.x_valid is not None
    assert [x.shape for x in (data.x_train, data.x_valid, data.x_test)] == [
        (54_000, 1, 28, 28),
        (6_000, 1, 28, 28),
        (10_000, 1, 28, 28),
    ]
    assert set(np.bincount(data.y_train)) == {5400}
    assert set(np.bincount(data.y_valid)) == {600}
    assert 0 == data.x_train.min() < data.x_train.max() == 1
    assert centroid_accuracy(data) > 0.65


def test_the_same_twice() -> None:
    for name in ("music", "labelme-original"):
        one, two = load(name), load(name)
        assert one.x_train.tobytes() == two.x_train.tobytes()
        assert crowd_of(one)[0].annotator.tobytes() == crowd_of(two)[0].annotator.tobytes()
