"""Crowds drawn from known confusions, and Dawid-Skene written out label by label."""

import numpy as np

from crowdwise.annotations.table import Annotations


def crowd(seed, n_items=40, n_annotators=6, n_classes=3, per_item=3, skill=(0.4, 0.9)):
    """(annotations, truth, confusions): each item labelled by `per_item` different annotators."""
    rng = np.random.default_rng(seed)
    right = rng.uniform(*skill, n_annotators)
    confusions = np.zeros((n_annotators, n_classes, n_classes))
    for r in range(n_annotators):
        for c in range(n_classes):
            wrong = rng.dirichlet(np.ones(n_classes - 1)) if n_classes > 1 else np.zeros(0)
            confusions[r, c] = np.insert((1 - right[r]) * wrong, c, right[r])
            confusions[r, c] /= confusions[r, c].sum()
    truth = rng.integers(0, n_classes, n_items)
    item = np.repeat(np.arange(n_items), per_item)
    annotator = np.concatenate(
        [rng.choice(n_annotators, per_item, replace=False) for _ in range(n_items)]
    )
    chances = confusions[annotator, truth[item]].cumsum(axis=1)
    label = (rng.random(len(item))[:, None] > chances).sum(axis=1).clip(0, n_classes - 1)
    return annotations(item, annotator, label, n_items, n_annotators, n_classes), truth, confusions


def annotations(item, annotator, label, n_items, n_annotators, n_classes):
    """Annotations over whole vocabularies, whether or not every entry is used."""
    return Annotations(
        np.asarray(item, np.int32),
        np.asarray(annotator, np.int32),
        np.asarray(label, np.int32),
        np.arange(n_items),
        np.array([f"r{r}" for r in range(n_annotators)]),
        np.array([f"c{c}" for c in range(n_classes)]),
    )


def slow_dawid_skene(crowd, n_iterations, smoothing=0.0):
    """Posteriors and confusions after `n_iterations` E-steps from the votes, one label at a time.

    Unsmoothed counts of labels an annotator did give are at least 1e-10, and so are class shares.
    """
    n, r, c = crowd.n_items, crowd.n_annotators, crowd.n_classes
    triples = list(
        zip(crowd.item.tolist(), crowd.annotator.tolist(), crowd.label.tolist(), strict=True)
    )
    proba = np.zeros((n, c))
    for i, _, label in triples:
        proba[i, label] += 1
    proba /= proba.sum(axis=1, keepdims=True)
    pooled = np.full((c, c), 0.1)
    for i, _, label in triples:
        pooled[:, label] += proba[i]
    pooled /= pooled.sum(axis=1, keepdims=True)
    for _ in range(n_iterations):
        confusion = np.tile(smoothing * c * pooled, (r, 1, 1))
        for i, a, label in triples:
            confusion[a, :, label] += proba[i]
        if smoothing == 0:
            for _, a, label in triples:
                confusion[a, :, label] = np.maximum(confusion[a, :, label], 1e-10)
        confusion /= confusion.sum(axis=2, keepdims=True)
        shares = proba.sum(axis=0) + smoothing
        shares = np.maximum(shares / shares.sum(), 1e-10)
        logits = np.tile(np.log(shares), (n, 1))
        for i, a, label in triples:
            logits[i] += np.log(confusion[a, :, label])
        proba = np.exp(logits - logits.max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
    return proba, confusion
