"""What each method is for: spammers, hard items, groups, weights."""

import numpy as np

import crowdwise
from tests.aggregate.twins import annotations, crowd


def full(truth, chance, n_classes, seed=0):
    """Everybody labels everything; `chance` (R, C, C)."""
    rng = np.random.default_rng(seed)
    n, r = len(truth), len(chance)
    item, annotator = np.repeat(np.arange(n), r), np.tile(np.arange(r), n)
    cut = chance[annotator, truth[item]].cumsum(axis=1)
    label = (rng.random(n * r)[:, None] > cut).sum(axis=1).clip(0, n_classes - 1)
    return annotations(item, annotator, label, n, r, n_classes)


def test_mace_finds_how_much_and_what_a_spammer_writes():
    truth = np.random.default_rng(0).integers(0, 3, 1500)
    habit = np.array([0.1, 0.2, 0.7])
    theta = np.array([0.05, 0.1, 0.2, 0.6, 0.95])
    chance = (1 - theta)[:, None, None] * np.eye(3) + theta[:, None, None] * habit
    answer = crowdwise.aggregate(full(truth, chance, 3), "mace")
    np.testing.assert_allclose(answer.annotators["spamming"], theta, atol=0.05)
    np.testing.assert_allclose(answer.extras["habits"][3:], np.tile(habit, (2, 1)), atol=0.05)


def test_glad_tells_hard_items_and_able_annotators():
    rng = np.random.default_rng(1)
    n, r = 400, 30
    truth, hard = rng.integers(0, 2, n), rng.random(n) < 0.5
    ability = np.linspace(0.5, 4, r)
    logit = np.where(hard, 0.3, 2.0)[:, None] * ability
    right = rng.random((n, r)) < 1 / (1 + np.exp(-logit))
    label = np.where(right, truth[:, None], 1 - truth[:, None])
    labels = annotations(
        np.repeat(np.arange(n), r), np.tile(np.arange(r), n), label.ravel(), n, r, 2
    )
    answer = crowdwise.aggregate(labels, "glad")
    difficulty = answer.extras["difficulty"]
    assert np.median(difficulty[hard]) > 2 * np.median(difficulty[~hard])
    assert np.corrcoef(answer.annotators["ability"], ability)[0, 1] > 0.9


def test_grouped_finds_planted_groups_and_beats_the_ungrouped_on_a_sparse_crowd():
    """Two schools confuse different classes; sixty annotators, ten labels each."""
    truth = np.random.default_rng(0).integers(0, 3, 300)
    schools = np.array(
        [
            [[0.9, 0.1, 0.0], [0.7, 0.3, 0.0], [0.0, 0.1, 0.9]],
            [[0.9, 0.0, 0.1], [0.0, 0.9, 0.1], [0.1, 0.7, 0.2]],
        ]
    )
    school = np.arange(60) % 2
    gained, found = [], []
    for seed in range(5):
        dense = full(truth, schools[school], 3, seed)
        rng = np.random.default_rng(seed)
        keep = rng.random(len(dense)) < 4 / 60
        sparse = annotations(dense.item[keep], dense.annotator[keep], dense.label[keep], 300, 60, 3)
        names = dense.classes[truth]
        grouped = crowdwise.aggregate(sparse, "grouped-dawid-skene", smoothing=2.0)
        plain = crowdwise.aggregate(sparse, "dawid-skene", smoothing=0.0)
        gained.append((grouped.labels == names).mean() - (plain.labels == names).mean())
        group = grouped.annotators["group"].to_numpy()
        found.append(max((group == school).mean(), (group != school).mean()))
    assert np.mean(gained) > 0.02
    assert np.mean(found) > 0.8


def test_one_coin_finds_accuracies():
    truth = np.random.default_rng(2).integers(0, 4, 3000)
    accuracy = np.array([0.5, 0.7, 0.8, 0.9])
    chance = np.where(np.eye(4) > 0, accuracy[:, None, None], (1 - accuracy)[:, None, None] / 3)
    answer = crowdwise.aggregate(full(truth, chance, 4), "one-coin")
    np.testing.assert_allclose(answer.confusions[:, 0, 0], accuracy, atol=0.03)
    np.testing.assert_allclose(answer.confusions.sum(axis=2), 1)


def test_weighted_majority_written_out():
    labels, _, _ = crowd(4)
    weights = np.ones(6)
    for _ in range(3):
        scores = np.zeros((40, 3))
        np.add.at(scores, (labels.item, labels.label), weights[labels.annotator])
        proba = scores / scores.sum(axis=1, keepdims=True)
        right = proba[labels.item, labels.label]
        accuracy = [
            (right[labels.annotator == r].sum() + 2 * right.mean())
            / ((labels.annotator == r).sum() + 2)
            for r in range(6)
        ]
        weights = np.maximum(3 * np.array(accuracy) - 1, 1e-12) / 2
    answer = crowdwise.aggregate(labels, "weighted-majority", max_iterations=3, tolerance=-1.0)
    np.testing.assert_allclose(answer.proba, proba, atol=1e-9)
    np.testing.assert_allclose(answer.annotators["weight"], weights, atol=1e-9)
