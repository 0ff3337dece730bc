"""How often the interval of an annotator's accuracy holds it, on crowds drawn at random.

The interval is a posterior's: over crowds like those the prior expects it would hold the accuracy
in 95% of cases. Here skills are drawn otherwise (Beta(6, 2.5)), people give from one label to
hundreds, and a classifier of 60 to 90% is all that is known of the items.
"""

import numpy as np
import pytest

from crowdwise.aggregate.with_classifier import with_classifier
from crowdwise.annotations import Annotations

R, N, PER_ITEM, CROWDS = 60, 1500, 3, 12


def drawn(seed, n_classes, strength):
    """Annotators' table and true accuracies; the classifier's probabilities are calibrated."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, N)
    accuracy = rng.beta(6, 2.5, size=R)
    busy = rng.gamma(0.6, size=R) + 0.02
    item = np.repeat(np.arange(N), PER_ITEM)
    who = np.argsort(rng.exponential(size=(N, R)) / busy, axis=1)[:, :PER_ITEM].ravel()
    amiss = (truth[item] + rng.integers(1, n_classes, len(item))) % n_classes
    label = np.where(rng.random(len(item)) < accuracy[who], truth[item], amiss)
    x = rng.normal(size=(N, n_classes))
    x[np.arange(N), truth] += strength
    proba = np.exp(strength * x)
    proba /= proba.sum(axis=1, keepdims=True)
    crowd = Annotations(item, who, label, np.arange(N), np.arange(R), np.arange(n_classes))
    return with_classifier(crowd, proba).annotators, accuracy


@pytest.mark.parametrize(("n_classes", "strength"), [(2, 1.5), (4, 2.0), (8, 2.5)])
def test_the_interval_holds_the_accuracy_nine_times_in_ten(n_classes, strength):
    held, labels, width = [], [], []
    for seed in range(CROWDS):
        frame, accuracy = drawn(seed, n_classes, strength)
        low, high = frame["accuracy_low"].to_numpy(), frame["accuracy_high"].to_numpy()
        heard = frame["labels"].to_numpy() > 0
        held.append(((low <= accuracy) & (accuracy <= high))[heard])
        labels.append(frame["labels"].to_numpy()[heard])
        width.append((high - low)[heard])
    held, labels, width = map(np.concatenate, (held, labels, width))
    # about 650 intervals: a true rate of 0.90 is held to within 0.035 with three sigma
    assert held.mean() > 0.90
    assert held[labels <= 10].mean() > 0.90
    assert held[labels > 60].mean() > 0.87
    assert width[labels <= 10].mean() > 2.5 * width[labels > 60].mean()


def test_hardly_anyone_is_accused_who_is_right_more_often_than_not():
    accused = np.concatenate(
        [
            frame["suspected_spammer"].to_numpy()[accuracy > 0.55]
            for frame, accuracy in (drawn(seed, 4, 2.0) for seed in range(CROWDS))
        ]
    )
    assert len(accused) > 400
    assert accused.mean() < 0.005
