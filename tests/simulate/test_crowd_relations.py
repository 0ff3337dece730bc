"""Who follows whom, checked literally: a slow twin writes down what everyone says of everything."""

import numpy as np
import pytest
from scipy.stats import chisquare

from crowdwise.simulate import CASES, crowd_with_details

COR = [case for case in CASES if case.startswith("COR")]
N, C = 600, 10


def everything(made):
    """What each annotator says about each item, one call per annotator. (R, N)"""
    item = np.arange(made.plan.n_items)
    return np.stack([made.plan.labels(item, np.full(len(item), r)) for r in range(250)])


@pytest.fixture(params=COR)
def made(request):
    return crowd_with_details(np.arange(N) % C, request.param, k=5, seed=2)


def test_relations_hold_on_every_item(made):
    truth, table = made.plan.truth, everything(made)
    for r, kind in enumerate(made.patterns):
        ref = made.reference[r]
        if ref < 0:
            continue
        for i in range(N):
            reference_right = table[ref, i] == truth[i]
            if kind == "copy":
                assert table[r, i] == table[ref, i]
            elif reference_right == (kind == "supportive"):
                assert table[r, i] == truth[i]


def test_otherwise_the_answer_is_uniform(made):
    """Chi-square at 0.1% for each of the two kinds, pooled over annotators."""
    truth, table = made.plan.truth, everything(made)
    for kind in ("supportive", "opposite"):
        guesses = []
        for r in np.flatnonzero(np.array(made.patterns) == kind):
            referred_right = table[made.reference[r]] == truth
            guesses.append(table[r, referred_right if kind == "opposite" else ~referred_right])
        if guesses:
            assert chisquare(np.bincount(np.concatenate(guesses), minlength=C)).pvalue > 1e-3


def test_the_crowd_says_what_the_table_says(made):
    given = made.annotations
    np.testing.assert_array_equal(given.label, everything(made)[given.annotator, given.item])


def test_references_are_fixed_and_come_from_the_groups_before(made):
    kinds = np.array(made.patterns)
    for r in range(250):
        if kinds[r] in ("copy", "supportive", "opposite"):
            assert 0 <= made.reference[r] < 50 * (r // 50)
        else:
            assert made.reference[r] == -1


def test_references_are_uniform_over_all_before():
    made = crowd_with_details([0, 1], "dummy sym-0.1 copy", k=1, n_per_pattern=[10, 10, 20_000])
    drawn = np.bincount(made.reference[20:], minlength=20)
    assert len(drawn) == 20
    assert chisquare(drawn).pvalue > 1e-3


def test_a_chain_of_copies_ends_at_the_one_who_knows():
    made = crowd_with_details(
        np.arange(200) % C, "sym-0.5 copy copy copy copy", n_per_pattern=1, k=5
    )
    table = made.annotations.label[
        np.argsort(made.annotations.item * 5 + made.annotations.annotator)
    ]
    assert (table.reshape(200, 5) == table.reshape(200, 5)[:, :1]).all()
