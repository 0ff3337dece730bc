"""The crowd and a classifier together: the definition written out, and what follows from it."""

import numpy as np
import pytest

from crowdwise.aggregate.with_classifier import with_classifier
from tests.aggregate.twins import annotations, crowd


def beliefs(rng, truth, n_classes, trust=3.0):
    """A classifier's probabilities, right more often than not."""
    logits = rng.normal(size=(len(truth), n_classes))
    logits[np.arange(len(truth)), truth] += trust
    proba = np.exp(logits)
    return proba / proba.sum(axis=1, keepdims=True)


def written_out(said, proba, smoothing):
    """One M-step from the classifier alone, one E-step with its beliefs as the prior."""
    n, r, c = said.n_items, said.n_annotators, said.n_classes
    triples = list(
        zip(said.item.tolist(), said.annotator.tolist(), said.label.tolist(), strict=True)
    )
    pooled = np.full((c, c), 0.1)
    for i, _, label in triples:
        pooled[:, label] += proba[i]
    pooled /= pooled.sum(axis=1, keepdims=True)
    confusion = np.tile(smoothing * c * pooled, (r, 1, 1))
    for i, a, label in triples:
        confusion[a, :, label] += proba[i]
    confusion /= confusion.sum(axis=2, keepdims=True)
    answer = np.empty((n, c))
    for i in range(n):
        product = proba[i].copy()
        for j, a, label in triples:
            if j == i:
                product *= confusion[a, :, label]
        answer[i] = product / product.sum()
    return answer, confusion


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("smoothing", [0.25, 2.0])
def test_it_is_the_definition(seed, smoothing):
    said, truth, _ = crowd(seed)
    proba = beliefs(np.random.default_rng(seed), truth, 3)
    wanted, confusion = written_out(said, proba, smoothing)
    found = with_classifier(said, proba, smoothing)
    np.testing.assert_allclose(found.proba, wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.confusions, confusion, rtol=1e-9)
    np.testing.assert_array_equal(found.codes, wanted.argmax(axis=1))


def test_items_without_labels_keep_the_classifiers_word():
    said = annotations([1, 1, 3], [0, 1, 0], [1, 1, 0], 4, 2, 2)
    proba = np.array([[0.3, 0.7], [0.6, 0.4], [0.9, 0.1], [0.5, 0.5]])
    found = with_classifier(said, proba)
    np.testing.assert_allclose(found.proba[[0, 2]], proba[[0, 2]])
    assert found.labels[[0, 2]].tolist() == ["c1", "c0"]
    frame = found.to_frame()
    assert frame["label"].to_list() == found.labels.tolist()
    np.testing.assert_allclose(frame["probability"], found.proba.max(axis=1))


def test_together_they_know_more_than_either_alone():
    said, truth, _ = crowd(1, n_items=2000, n_annotators=20, per_item=2, skill=(0.4, 0.9))
    proba = beliefs(np.random.default_rng(1), truth, 3, trust=1.5)
    found = with_classifier(said, proba)
    votes = np.asarray(said.votes().todense()).argmax(axis=1)
    alone = max((proba.argmax(axis=1) == truth).mean(), (votes == truth).mean())
    assert (found.codes == truth).mean() > alone + 0.05


def test_a_classifier_that_is_all_too_sure_rules_nothing_out():
    said, truth, _ = crowd(2, n_items=300, per_item=5, skill=(0.9, 0.95))
    sure = np.eye(3)[truth]
    sure[0] = np.eye(3)[(truth[0] + 1) % 3]
    found = with_classifier(said, sure)
    assert np.isfinite(found.proba).all()
    assert (found.proba > 0).all()


def test_relabelling_the_classes_relabels_the_answer():
    said, truth, _ = crowd(3)
    proba = beliefs(np.random.default_rng(3), truth, 3)
    order = np.array([2, 0, 1])
    turned = annotations(said.item, said.annotator, order[said.label], 40, 6, 3)
    back = np.empty_like(proba)
    back[:, order] = proba
    np.testing.assert_allclose(
        with_classifier(turned, back).proba[:, order], with_classifier(said, proba).proba
    )
