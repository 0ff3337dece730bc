"""What holds of every method, whatever the crowd."""

import numpy as np
import polars as pl
import pytest

import crowdwise
from crowdwise.aggregate import METHODS
from crowdwise.errors import InputError
from tests.aggregate.twins import annotations, crowd

ALL = list(METHODS)
CLIMBING = ["dawid-skene", "grouped-dawid-skene", "one-coin", "glad", "mace"]

ODD = {
    "one label": annotations([0], [0], [1], 1, 1, 2),
    "one item": annotations([0, 0, 0], [0, 1, 2], [1, 1, 0], 1, 3, 2),
    "one annotator": annotations([0, 1, 2], [0, 0, 0], [1, 0, 1], 3, 1, 2),
    "one class": annotations([0, 1], [0, 1], [0, 0], 2, 2, 1),
    "annotator without labels": annotations([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0], 2, 4, 2),
    "item without labels": annotations([0, 0, 3, 3], [0, 1, 0, 1], [1, 1, 0, 0], 5, 2, 2),
    "class nobody gave": annotations([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0], 2, 2, 4),
    "same label twice": annotations([0, 0, 1], [0, 0, 0], [1, 1, 0], 2, 1, 2),
}


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("name", ODD)
def test_odd_crowds_are_legal(method, name):
    labels = ODD[name]
    for options in [{}, {"smoothing": 0.0}]:
        if options and (method in ("majority", "grouped-dawid-skene")):
            continue
        answer = crowdwise.aggregate(labels, method, **options)
        assert answer.proba.shape == (labels.n_items, labels.n_classes)
        assert np.isfinite(answer.proba).all()
        np.testing.assert_allclose(answer.proba.sum(axis=1), 1, atol=1e-9)
        assert answer.labels.shape == (labels.n_items,)
        assert np.isin(answer.labels, labels.classes).all()
        assert answer.annotators["annotator"].to_list() == labels.annotator_ids.tolist()
        assert np.isfinite(answer.history).all()
        unlabelled = answer.annotators.filter(pl.col("labels") == 0)
        assert unlabelled["accuracy"].is_null().all()
        assert unlabelled["cost"].is_null().all()


@pytest.mark.parametrize("method", CLIMBING)
def test_objective_never_falls_for_any_seed(method):
    for seed in range(100):
        labels, _, _ = crowd(seed, n_items=15, n_annotators=5, per_item=1 + seed % 4)
        history = crowdwise.aggregate(labels, method, max_iterations=25, tolerance=-1.0).history
        assert len(history) == 25
        assert (np.diff(history) >= -1e-9 * np.abs(history[:-1])).all(), seed


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "mace", "glad"])
def test_objective_never_falls_without_smoothing(method):
    for seed in range(30):
        labels, _, _ = crowd(seed, n_items=15, n_annotators=5, per_item=3)
        options = {"smoothing": 0.0, "max_iterations": 25, "tolerance": -1.0}
        history = crowdwise.aggregate(labels, method, **options).history
        assert (np.diff(history) >= -1e-7).all(), seed


@pytest.mark.parametrize("method", ALL)
def test_same_input_same_bytes(method):
    labels, _, _ = crowd(0)
    one, two = crowdwise.aggregate(labels, method), crowdwise.aggregate(labels, method)
    assert one.proba.tobytes() == two.proba.tobytes()
    assert one.labels.tolist() == two.labels.tolist()
    assert one.annotators.equals(two.annotators)


@pytest.mark.parametrize("method", ALL)
def test_order_of_rows_does_not_matter(method):
    labels, _, _ = crowd(5)
    rows = np.random.default_rng(1).permutation(len(labels))
    shuffled = annotations(labels.item[rows], labels.annotator[rows], labels.label[rows], 40, 6, 3)
    one, two = crowdwise.aggregate(labels, method), crowdwise.aggregate(shuffled, method)
    np.testing.assert_allclose(one.proba, two.proba, atol=1e-6)


@pytest.mark.parametrize("method", ALL)
def test_unanimous_crowds_are_believed_and_good_crowds_found_out(method):
    labels, truth, _ = crowd(7, n_items=400, n_annotators=9, per_item=5, skill=(0.75, 0.95))
    answer = crowdwise.aggregate(labels, method)
    assert (answer.labels == labels.classes[truth]).mean() > 0.93
    known = np.array([(labels.label == truth[labels.item])[labels.annotator == r].mean()
                      for r in range(9)])  # fmt: skip
    assert np.corrcoef(answer.annotators["accuracy"], known)[0, 1] > 0.9


@pytest.mark.parametrize("method", [m for m in ALL if m != "majority"])
def test_a_good_minority_beats_spammers(method):
    """Three experts and four coin-tossers: all weighted methods do better than counting heads."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    label = np.where(
        rng.random((600, 7)) < [0.95] * 3 + [0.5] * 4, truth[:, None], 1 - truth[:, None]
    )
    labels = annotations(
        np.repeat(np.arange(600), 7), np.tile(np.arange(7), 600), label.ravel(), 600, 7, 2
    )

    def accuracy(name):
        return (crowdwise.aggregate(labels, name).labels == labels.classes[truth]).mean()

    assert accuracy(method) > accuracy("majority") + 0.02
    quality = crowdwise.aggregate(labels, method).annotators
    assert quality["cost"][:3].max() < 0.4 < 0.9 < quality["cost"][3:].min()


def test_unknown_names_list_what_exists():
    labels, _, _ = crowd(0)
    with pytest.raises(InputError, match=r"'magic' is unknown.*dawid-skene.*glad"):
        crowdwise.aggregate(labels, "magic")
    with pytest.raises(InputError, match=r"no option 'colour'.*max_iterations.*smoothing"):
        crowdwise.aggregate(labels, colour=3)
    with pytest.raises(InputError, match="wants Annotations, not list"):
        crowdwise.aggregate([1, 2])


@pytest.mark.parametrize(
    ("method", "option"),
    [
        ("dawid-skene", {"smoothing": -1}),
        ("dawid-skene", {"smoothing": "a"}),
        ("dawid-skene", {"max_iterations": 0}),
        ("dawid-skene", {"max_iterations": 1.5}),
        ("dawid-skene", {"tolerance": float("nan")}),
        ("dawid-skene", {"threads": 0}),
        ("grouped-dawid-skene", {"smoothing": 0}),
        ("grouped-dawid-skene", {"n_groups": True}),
        ("majority", {"ties": "coin"}),
        ("majority", {"seed": -1}),
        ("mace", {"uniform_shares": "yes"}),
    ],
)
def test_bad_options_are_refused(method, option):
    labels, _, _ = crowd(0)
    with pytest.raises(InputError, match=next(iter(option))):
        crowdwise.aggregate(labels, method, **option)


def test_no_labels_at_all_is_refused():
    with pytest.raises(InputError, match="no labels"):
        crowdwise.aggregate(annotations([], [], [], 3, 2, 2))
