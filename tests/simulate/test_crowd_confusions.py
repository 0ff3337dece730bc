"""Realised confusions against the exact ones: chi-square tests, 1% for each family of tests.

Every test divides the 1% by the number of rows it compares (Bonferroni). Seeds are fixed, so a
failure is a fault and not bad luck.
"""

import numpy as np
import pytest
from scipy.stats import chisquare

from crowdwise.simulate import CASES, crowd_with_details
from crowdwise.simulate.patterns import confusion, parse
from crowdwise.simulate.plan import plan

LEVEL = 0.01
C = 10


def counts(truth, label, n_classes=C):
    return np.bincount(truth * n_classes + label, minlength=n_classes**2).reshape(
        n_classes, n_classes
    )


def row_p_values(observed, T):
    """One p-value per true class; a label that T calls impossible counts as p = 0."""
    p = []
    for seen, row in zip(observed, T, strict=True):
        possible = row > 0
        if seen[~possible].any():
            p.append(0.0)
        elif possible.sum() > 1:
            p.append(chisquare(seen[possible], seen.sum() * row[possible]).pvalue)
        else:
            p.append(1.0)
    return np.array(p)


@pytest.mark.parametrize("case", CASES)
def test_every_annotator_errs_as_its_exact_confusion_says(case):
    """Fifty annotators on 20,000 items each, asked or not; for each, items are independent."""
    truth = np.arange(20_000) % C
    made = plan(truth, case, n_per_pattern=10, seed=3)
    T = crowd_with_details(truth, case, n_per_pattern=10, seed=3).confusions()
    item = np.arange(len(truth))
    p = np.array(
        [
            row_p_values(counts(truth, made.labels(item, np.full(len(item), r))), T[r])
            for r in range(made.n_annotators)
        ]
    )
    assert p.min() > LEVEL / p.size


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("IND")])
def test_the_labels_handed_out_follow_the_patterns(case):
    truth = np.arange(45_000) % C
    made = crowd_with_details(truth, case, seed=4)
    given = made.annotations
    patterns = np.array(made.patterns)[given.annotator]
    p = []
    for name in dict.fromkeys(made.patterns):
        rows = patterns == name
        observed = counts(truth[given.item[rows]], given.label[rows])
        p.append(row_p_values(observed, confusion(parse(name), C)))
    assert np.min(p) > LEVEL / np.size(p)


def test_the_test_has_teeth():
    """20,000 labels tell sym-0.3 from sym-0.4, and pair from sym."""
    truth = np.arange(20_000) % C
    made = plan(truth, "sym-0.3", n_per_pattern=3)
    observed = counts(truth, made.labels(np.arange(20_000), np.zeros(20_000, dtype=int)))
    assert row_p_values(observed, confusion(parse("sym-0.3"), C)).min() > LEVEL / C
    assert row_p_values(observed, confusion(parse("sym-0.4"), C)).min() < LEVEL / C
    assert row_p_values(observed, confusion(parse("pair-0.3"), C)).min() == 0


@pytest.mark.parametrize("text", ["sym-0.3", "pair-0.6", "class-wise-0,2", "dummy"])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_rows_of_a_confusion_add_up_to_one(text, n_classes):
    T = confusion(parse(text), n_classes)
    assert T.shape == (n_classes, n_classes)
    assert (T >= 0).all()
    np.testing.assert_allclose(T.sum(axis=1), 1)


def test_confusions_as_the_paper_words_them():
    sym = confusion(parse("sym-0.3"), 4)
    assert sym[2, 2] == pytest.approx(0.7)
    assert sym[2, 0] == pytest.approx(0.1)
    pair = confusion(parse("pair-0.6"), 4)
    assert pair[3, 0] == pytest.approx(0.6)  # the last class is taken for the first
    assert pair[3, 3] == pytest.approx(0.4)
    class_wise = confusion(parse("class-wise-1"), 4)
    assert class_wise[1].tolist() == [0, 1, 0, 0]
    assert class_wise[0].tolist() == [0.25] * 4
    assert (confusion(parse("dummy"), 4) == 0.25).all()


def test_confusions_of_those_who_follow():
    made = crowd_with_details([0, 1, 2, 3], "sym-0.4 copy", n_per_pattern=1, k=1)
    np.testing.assert_array_equal(made.confusions()[0], made.confusions()[1])
    for kind, a in (("supportive", 0.6), ("opposite", 0.4)):
        T = crowd_with_details([0, 1, 2, 3], f"sym-0.4 {kind}", n_per_pattern=1, k=1).confusions()
        assert T[1, 2, 2] == pytest.approx(a + (1 - a) / 4)
        assert T[1, 2, 1] == pytest.approx((1 - a) / 4)
