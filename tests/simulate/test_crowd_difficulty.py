"""Hard items, and items taken for what they look like."""

import numpy as np
import pytest
from scipy.stats import chisquare

from crowdwise import InputError
from crowdwise.simulate import crowd, crowd_with_details
from crowdwise.simulate.difficulty import difficulty_of

N, C = 20_000, 4
TRUTH = (np.arange(N) % C).astype(np.int32)


def test_no_difficulty_is_no_change():
    np.testing.assert_array_equal(
        crowd(TRUTH, "sym-0.3").label, crowd(TRUTH, "sym-0.3", difficulty=0.0).label
    )


def test_an_impossible_item_gets_uniform_labels():
    """Chi-square at 0.1%."""
    given = crowd(TRUTH, "sym-0", difficulty=(TRUTH == 2).astype(float))
    hard = TRUTH[given.item] == 2
    assert (given.label[~hard] == TRUTH[given.item[~hard]]).all()
    assert chisquare(np.bincount(given.label[hard], minlength=C)).pvalue > 1e-3


def test_a_mean_is_a_mean_and_items_differ():
    share = difficulty_of(0.2, None, TRUTH, C, seed=0).share
    assert share.mean() == pytest.approx(0.2, abs=0.01)
    assert np.quantile(share, 0.25) < 0.02
    assert np.quantile(share, 0.95) > 0.6


def test_labels_of_an_item_err_together():
    """Two annotators are wrong on the same item more often than if items were alike."""
    wrong = crowd(TRUTH, "sym-0.1", k=2, difficulty=0.3)
    wrong = (wrong.label != TRUTH[wrong.item]).reshape(N, 2)
    both, alone = wrong.all(axis=1).mean(), wrong.mean()
    assert both > 1.3 * alone**2


def blobs(seed=0):
    random = np.random.default_rng(seed)
    centre = np.array([[0, 0], [3, 0], [0, 3], [3, 3]])  # class 3 lies next to 1 and 2
    return centre[TRUTH] + random.normal(size=(N, 2))


def test_with_features_errors_fall_on_the_class_an_item_resembles():
    x = blobs()
    given = crowd(TRUTH, "sym-0", difficulty=0.3, features=x)
    wrong = given.label != TRUTH[given.item]
    mean = np.stack([x[c == TRUTH].mean(axis=0) for c in range(C)])
    distance = np.linalg.norm(x[:, None] - mean, axis=2)
    distance[np.arange(N), TRUTH] = np.inf
    resembles = distance.argmin(axis=1)
    assert wrong.mean() == pytest.approx(0.3, abs=0.02)
    assert (given.label[wrong] == resembles[given.item[wrong]]).all()


def test_with_features_the_items_near_another_class_are_the_hard_ones():
    x = blobs()
    share = difficulty_of(0.3, x, TRUTH, C, seed=0).share
    towards_class_1 = x[TRUTH == 0, 0]
    near, far = towards_class_1 > 1.5, towards_class_1 < 0
    assert share[TRUTH == 0][near].mean() > 2 * share[TRUTH == 0][far].mean()


def test_spammers_do_not_look_at_the_item():
    """Chi-square at 0.1%: dummy stays uniform where everyone else follows the look."""
    given = crowd(TRUTH, "dummy", difficulty=0.9, features=blobs())
    assert chisquare(np.bincount(given.label[TRUTH[given.item] == 0], minlength=C)).pvalue > 1e-3


@pytest.mark.parametrize("features", [None, blobs()], ids=["uniform", "features"])
@pytest.mark.parametrize("case", ["sym-0.3 pair-0.4 class-wise-1 dummy supportive opposite copy"])
def test_confusions_are_exact_on_average(case, features):
    """Each annotator on all items; every cell within 5 standard errors."""
    made = crowd_with_details(TRUTH, case, difficulty=0.25, features=features, n_per_pattern=2)
    T, item = made.confusions(), np.arange(N)
    for r in range(made.plan.n_annotators):
        said = made.plan.labels(item, np.full(N, r))
        seen = np.bincount(TRUTH * C + said, minlength=C * C).reshape(C, C) / (N / C)
        error = np.sqrt(T[r] * (1 - T[r]) / (N / C))
        assert (abs(seen - T[r]) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difficulty": 1.5}, "between 0 and 1"),
        ({"difficulty": float("nan")}, "between 0 and 1"),
        ({"difficulty": [0.1, 0.2]}, "one for each"),
        ({"features": blobs()}, "give difficulty too"),
        ({"difficulty": 0.1, "features": blobs()[:5]}, "5 rows for 20000 items"),
        ({"difficulty": 0.1, "features": blobs() * np.nan}, "not finite"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(InputError, match=message):
        crowd(TRUTH, "sym-0.3", **options)


def test_features_need_two_classes():
    with pytest.raises(InputError, match="two classes"):
        crowd([0, 0], "sym-0.3", difficulty=0.1, features=[[1.0], [2.0]], n_classes=2)
