import numpy as np
import pytest

import crowdwise
from crowdwise.aggregate import packed
from tests.aggregate.twins import annotations, crowd, slow_dawid_skene

FOREVER = {"tolerance": -1.0}  # never stop early


@pytest.mark.parametrize("smoothing", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_equals_the_definition_written_out(smoothing, steps):
    for seed in range(5):
        labels, _, _ = crowd(seed)
        fast = crowdwise.aggregate(
            labels, "dawid-skene", smoothing=smoothing, max_iterations=steps, **FOREVER
        )
        proba, confusions = slow_dawid_skene(labels, steps, smoothing)
        assert fast.steps == steps
        np.testing.assert_allclose(fast.proba, proba, atol=1e-9)
        np.testing.assert_allclose(fast.confusions, confusions, atol=1e-9)


def test_likelihood_is_the_one_written_out():
    labels, _, _ = crowd(3)
    fast = crowdwise.aggregate(labels, smoothing=0.0, max_iterations=4, **FOREVER)
    _, confusions = slow_dawid_skene(labels, 4)
    before, _ = slow_dawid_skene(labels, 3)
    joint = np.tile(before.mean(axis=0), (labels.n_items, 1))
    for i, a, label in zip(labels.item, labels.annotator, labels.label, strict=True):
        joint[i] *= confusions[a, :, label]
    assert fast.history[-1] == pytest.approx(np.log(joint.sum(axis=1)).sum(), rel=1e-9)


def test_rows_annotators_and_classes_in_any_order():
    labels, _, _ = crowd(1, n_items=60, per_item=4)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(labels))
    people, kinds = rng.permutation(labels.n_annotators), rng.permutation(labels.n_classes)
    shuffled = annotations(
        labels.item[rows], people[labels.annotator[rows]], kinds[labels.label[rows]], 60, 6, 3
    )
    one, other = crowdwise.aggregate(labels), crowdwise.aggregate(shuffled)
    np.testing.assert_allclose(one.proba, other.proba[:, kinds], atol=1e-9)
    np.testing.assert_allclose(
        one.confusions, other.confusions[people][:, kinds][:, :, kinds], atol=1e-9
    )


def test_block_size_and_threads_do_not_matter(monkeypatch):
    labels, _, _ = crowd(2, n_items=500)
    whole = crowdwise.aggregate(labels, threads=1)
    monkeypatch.setattr(packed, "BLOCK", 64)
    cut = crowdwise.aggregate(labels, threads=1)
    threaded = crowdwise.aggregate(labels, threads=3)
    np.testing.assert_allclose(whole.proba, cut.proba, atol=1e-9)
    assert cut.proba.tobytes() == threaded.proba.tobytes()


def test_error_of_confusions_falls_as_labels_grow():
    """Statistical error falls like n^(-1/2): sixteen times the items, a quarter of the error."""
    errors = []
    for n_items in (500, 8000):
        wrong = []
        for seed in range(4):
            labels, _, truth = crowd(seed, n_items, 8, 3, per_item=8, skill=(0.6, 0.9))
            found = crowdwise.aggregate(labels, smoothing=0.01).confusions
            wrong.append(np.abs(found - truth).mean())
        errors.append(np.mean(wrong))
    rate = np.log(errors[0] / errors[1]) / np.log(16)
    assert 0.35 < rate < 0.65
    assert errors[1] < 0.01


def test_thousands_of_labels_on_one_item_do_not_underflow():
    n = 3000
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, n)
    label[: n // 2 + 300] = 0
    labels = annotations(np.zeros(n), np.arange(n), label, 1, n, 2)
    for smoothing in (0.0, 0.25):
        answer = crowdwise.aggregate(labels, smoothing=smoothing)
        assert np.isfinite(answer.proba).all()
        assert np.isfinite(answer.history).all()
        assert answer.labels.tolist() == ["c0"]


def test_smoothing_lends_a_newcomer_the_crowds_confusions():
    labels, _, _ = crowd(0, n_items=300, skill=(0.85, 0.95))
    newcomer = annotations(
        np.append(labels.item, 0),
        np.append(labels.annotator, 6),
        np.append(labels.label, labels.label[labels.item == 0][0]),
        300,
        7,
        3,
    )
    lent = crowdwise.aggregate(newcomer, smoothing=1.0).confusions[6]
    assert (np.diag(lent) > 0.6).all()
