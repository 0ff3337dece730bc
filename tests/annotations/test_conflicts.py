"""An annotator who labelled an item twice."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdwise.annotations import Annotations
from crowdwise.annotations.conflicts import RULES
from crowdwise.errors import InputError

ITEM = [1, 1, 1, 2, 2, 3, 1]
ANNOTATOR = ["ann", "ann", "ann", "bob", "bob", "ann", "bob"]
LABEL = ["x", "y", "y", "x", "x", "y", "x"]


def kept(rule: str) -> list[tuple]:
    crowd = Annotations.from_triples(ITEM, ANNOTATOR, LABEL, on_conflict=rule)
    assert (crowd.repeats_dropped, crowd.conflicts_settled) == (1, 1)
    return [tuple(record.values()) for record in crowd.to_records()]


def test_identical_repeats_are_dropped_and_counted():
    crowd = Annotations.from_triples([1, 1, 2, 1], ["a", "a", "a", "a"], [0, 0, 1, 0])
    assert len(crowd) == 2
    assert (crowd.repeats_dropped, crowd.conflicts_settled) == (2, 0)


def test_rules_settle_contradictions():
    others = [(2, "bob", "x"), (3, "ann", "y"), (1, "bob", "x")]
    assert kept("first") == [(1, "ann", "x"), *others]
    assert kept("last") == [(1, "ann", "y"), *others]
    assert kept("majority") == [(1, "ann", "y"), *others]
    assert kept("drop") == others


def test_a_tie_goes_to_the_label_given_first():
    tied = Annotations.from_triples(
        [1] * 4, ["a"] * 4, ["y", "x", "x", "y"], on_conflict="majority"
    )
    assert tied.to_records()[0]["label"] == "y"


def test_dropped_rows_leave_their_ids_behind():
    crowd = Annotations.from_triples([1, 1, 2], ["a", "a", "b"], [0, 1, 1], on_conflict="drop")
    assert crowd.item_ids.tolist() == [1, 2]
    assert crowd.annotator_ids.tolist() == ["a", "b"]


def test_contradictions_stop_and_the_first_few_are_named():
    with pytest.raises(InputError) as error:
        Annotations.from_triples(ITEM, ANNOTATOR, LABEL)
    assert str(error.value).startswith(
        "annotator ann labelled item 1 both x (row 0 (counted from 0)) and y (row 1"
    )
    items = list(range(10)) * 2
    with pytest.raises(InputError, match=r"item 0 .*item 1 .*item 2 .*and 7 more; .*--on-conflict"):
        Annotations.from_triples(items, ["a"] * 20, [0] * 10 + [1] * 10)


def test_an_unknown_rule_is_refused_even_without_duplicates():
    with pytest.raises(InputError, match="on_conflict is 'best'; it should be one of error, first"):
        Annotations.from_triples([1, 2], [1, 1], [0, 1], on_conflict="best")


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), max_size=25),
    st.sampled_from([rule for rule in RULES if rule != "error"]),
)
def test_as_a_plain_loop_would_settle_it(rows, rule):
    given_labels: dict[tuple[int, int], list[int]] = {}
    for item, annotator, label in rows:
        given_labels.setdefault((item, annotator), []).append(label)
    expected = {}
    for pair, labels in given_labels.items():
        if len(set(labels)) == 1 or rule == "first":
            expected[pair] = labels[0]
        elif rule == "last":
            expected[pair] = labels[-1]
        elif rule == "majority":  # most_common keeps the order of first appearance among equals
            expected[pair] = Counter(labels).most_common(1)[0][0]
    columns = [np.array([row[i] for row in rows], dtype=int) for i in range(3)]
    crowd = Annotations.from_triples(*columns, on_conflict=rule)
    found = {(r["item"], r["annotator"]): r["label"] for r in crowd.to_records()}
    assert found == expected
    assert len(crowd) == len(expected)
