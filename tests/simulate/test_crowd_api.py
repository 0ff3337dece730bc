"""`crowd` and `crowd_with_details` as their callers see them."""

import time
import warnings

import numpy as np
import pytest

import crowdwise.simulate.plan as plan_module
from crowdwise import InputError
from crowdwise.simulate import CASES, crowd, crowd_with_details
from crowdwise.simulate.cases import patterns_of
from crowdwise.simulate.patterns import Pattern, parse

TRUTH = np.arange(1000) % 10


def triples(annotations):
    return annotations.item, annotations.annotator, annotations.label


@pytest.mark.parametrize("case", CASES)
def test_every_item_has_k_labels_of_250_annotators(case):
    given = crowd(TRUTH, case, k=3)
    assert len(given) == 3000
    assert given.n_annotators == 250
    assert (np.bincount(given.item) == 3).all()
    assert given.item_ids.tolist() == list(range(1000))
    assert given.classes.tolist() == list(range(10))
    assert all(column.dtype == np.int32 for column in triples(given))


@pytest.mark.parametrize("case", ["IND-I", "COR-II"])
def test_same_seed_same_bytes_and_another_seed_another_crowd(case):
    options = {"difficulty": 0.2, "features": np.random.default_rng(0).normal(size=(1000, 5))}
    once, twice = (crowd(TRUTH, case, seed=9, **options) for _ in range(2))
    other = crowd(TRUTH, case, seed=10, **options)
    for a, b, c in zip(triples(once), triples(twice), triples(other), strict=True):
        assert a.tobytes() == b.tobytes()
        assert a is once.item or a.tobytes() != c.tobytes()


def test_blocks_of_any_size_give_the_same_crowd(monkeypatch):
    whole = triples(crowd(TRUTH, "COR-III", seed=1, difficulty=0.1))
    monkeypatch.setattr(plan_module, "_PAIRS", 50)
    for a, b in zip(whole, triples(crowd(TRUTH, "COR-III", seed=1, difficulty=0.1)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_larger_k_adds_labels_and_changes_none():
    few, many = crowd(TRUTH, "COR-I", k=3), crowd(TRUTH, "COR-I", k=7)
    for name in ("annotator", "label"):
        np.testing.assert_array_equal(
            getattr(few, name).reshape(-1, 3), getattr(many, name).reshape(-1, 7)[:, :3]
        )


def test_any_kind_of_label():
    names = np.array(["dog", "cat", "owl"])[np.arange(300) % 3]
    given = crowd(names, "sym-0.5", seed=2)
    assert given.classes.tolist() == ["cat", "dog", "owl"]
    said = given.classes[given.label]
    assert np.mean(said == names[given.item]) == pytest.approx(0.5, abs=0.08)
    as_list = crowd(list(names), "sym-0.5", seed=2)
    np.testing.assert_array_equal(given.label, as_list.label)
    as_objects = crowd(names.astype(object), "sym-0.5", seed=2)
    np.testing.assert_array_equal(given.label, as_objects.label)


def test_a_class_absent_from_the_truth_can_still_be_said():
    given = crowd([0, 1] * 500, "dummy", n_classes=4)
    assert set(given.label.tolist()) == {0, 1, 2, 3}


def test_fewer_than_ten_classes_drop_the_listed_ones_that_do_not_exist():
    with pytest.warns(UserWarning, match=r"4 classes.*class-wise-1,3,4,6,8 keeps 1,3"):
        made = crowd_with_details(np.arange(400) % 4, "IND-I")
    assert made.patterns[150] == "class-wise-1,3"
    assert made.confusions()[150, 3].tolist() == [0, 0, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        crowd(np.arange(400) % 4, "IND-IV")


def test_details_name_what_made_the_labels():
    made = crowd_with_details(TRUTH, "COR-II", n_per_pattern=[1, 2, 3, 1, 2], k=2)
    assert made.patterns == (
        ["pair-0.5"] + ["class-wise-0,6,8"] * 2 + ["supportive"] * 3 + ["opposite"] + ["copy"] * 2
    )
    assert made.reference.shape == made.weight.shape == (9,)
    assert made.confusions().shape == (9, 10, 10)
    np.testing.assert_allclose(made.confusions().sum(axis=2), 1)


def test_cases_of_ones_own():
    by_text = crowd(TRUTH, "sym-0.2 copy", seed=1)
    by_pattern = crowd(TRUTH, [Pattern("sym", 0.2), "copy"], seed=1)
    np.testing.assert_array_equal(by_text.label, by_pattern.label)
    assert [p.name for p in patterns_of("cor-iv")] == list(CASES["COR-IV"])


@pytest.mark.parametrize("text", [name for names in CASES.values() for name in names])
def test_names_are_read_back(text):
    assert parse(text).name == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"case": "IND-V"}, "IND-V.*not known"),
        ({"case": ""}, "no pattern"),
        ({"case": "copy sym-0.1"}, "put an independent pattern first"),
        ({"case": "sym-x"}, "write it as sym-0.3"),
        ({"case": "sym-1.5"}, "between 0 and 1"),
        ({"case": "sym-nan"}, "between 0 and 1"),
        ({"case": "class-wise-0,-1"}, "numbered from 0"),
        ({"case": "dummy-3"}, "takes no number"),
        ({"k": 0}, "between 1 and 250"),
        ({"k": 251}, "between 1 and 250"),
        ({"seed": -1}, "negative"),
        ({"tail": "long"}, "labelme"),
        ({"beta": (0, 1)}, "positive"),
        ({"n_per_pattern": 0}, "n_per_pattern"),
        ({"n_per_pattern": [1, 2]}, "5 patterns"),
        ({"truth": []}, "one label per item"),
        ({"truth": [[1, 2]]}, "one label per item"),
        ({"truth": [1, 1]}, "one class only"),
        ({"truth": [0.0, float("nan")]}, "item 1.*missing"),
        ({"truth": np.array(["a", None, "b"], dtype=object)}, "item 1.*missing"),
        ({"truth": np.array(["a", 1], dtype=object)}, "text and numbers"),
        ({"truth": [0, 5], "n_classes": 3}, "0 to 2"),
        ({"truth": ["a", "b"], "n_classes": 3}, "0 to 2"),
        ({"n_classes": 1}, "two classes"),
    ],
)
def test_mistakes_are_named(change, message):
    with pytest.raises(InputError, match=message):
        crowd(**{"truth": TRUTH, **change})


def test_sixty_thousand_items_by_250_annotators_in_under_two_seconds():
    truth = np.arange(60_000) % 10
    start = time.perf_counter()
    crowd(truth, "COR-II")
    assert time.perf_counter() - start < 2
