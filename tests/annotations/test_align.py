"""Rows of features and the crowd's items, put together by their ids."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from crowdwise import Annotations, InputError
from crowdwise.annotations.align import aligned

CROWD = Annotations.from_triples(["b", "a", "b"], ["ann", "ann", "bob"], ["no", "yes", "yes"])


def triples(crowd: Annotations) -> set[tuple[str, str, str]]:
    return set(zip(*(column.tolist() for column in crowd.to_triples()), strict=True))


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pl.Series])
def test_no_label_is_lost_whatever_the_order(kind: object) -> None:
    for ids in (["a", "b"], ["b", "a"], ["c", "b", "d", "a"]):
        found = aligned(CROWD, len(ids), kind(ids))  # type: ignore[operator]
        assert found.item_ids.tolist() == ids
        assert triples(found) == triples(CROWD)


def test_text_and_numbers_that_say_the_same_are_the_same() -> None:
    numbers = Annotations.from_triples([1, 2], ["ann", "ann"], [0, 1])
    assert aligned(numbers, 2, ["2", "1"]).item_ids.tolist() == [2, 1]
    assert aligned(numbers, 2, np.array([2.0, 1.0])).item.tolist() == [1, 0]
    texts = Annotations.from_triples(["1", "2"], ["ann", "ann"], [0, 1])
    assert aligned(texts, 2, [2, 1]).item_ids.tolist() == ["2", "1"]


def test_rows_follow_the_items_where_no_ids_are_given() -> None:
    assert aligned(CROWD, 2, None) is CROWD
    with pytest.raises(InputError, match="3 rows of features and 2 items"):
        aligned(CROWD, 3, None)


def test_what_else_the_crowd_knows_stays() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2], "annotator": [1, 1, 1], "label": [0, 0, 1]})
    found = aligned(Annotations.from_frame(frame), 2, [2, 1])
    assert (found.frame_kind, found.repeats_dropped) == ("pandas", 1)


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", "b", "c"], "3 item ids for 2 rows"),
        (["b", "b"], "item b has more than one row"),
        (["a", "x"], r"item b was labelled, but no row .*1 such items; the rows describe \['a', "),
        (["a", None], "the ids of the rows of features, entry 2: the item is missing"),
        (["a", 2.5], "entry 2"),
    ],
)
def test_ids_that_do_not_fit(ids: list[object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        aligned(CROWD, 2, ids)


def test_no_rows_at_all() -> None:
    with pytest.raises(InputError, match="was labelled, but no row"):
        aligned(CROWD, 0, [])


@pytest.mark.parametrize("ids", [range(5), np.array([3, 4, 0, 1, 2]), [4, 3, 2, 1, 0]])
def test_numbers_are_looked_up_as_numbers(ids: object) -> None:
    crowd = Annotations.from_triples([3, 1, 3], ["ann", "ann", "bob"], [0, 1, 1])
    found = aligned(crowd, 5, ids)  # type: ignore[arg-type]
    assert found.item_ids.tolist() == list(ids)  # type: ignore[call-overload]
    assert triples(found) == triples(crowd)
    with pytest.raises(InputError, match="item 3 was labelled, but no row"):
        aligned(crowd, 3, range(3))


def test_integers_beyond_64_bits_are_ids_too() -> None:
    crowd = Annotations.from_triples([2**70, 1], ["ann", "ann"], [0, 1])
    assert aligned(crowd, 2, [1, 2**70]).item.tolist() == [1, 0]
