"""Cells: what they depend on, and one run for real."""

import json
from dataclasses import replace

import numpy as np
import pytest

from crowdwise.errors import InputError
from crowdwise.reproduce import cells, paper, suites
from crowdwise.reproduce.cells import Cell, run_cell, scores

TINY = {"epochs": 2, "batch_size": 512}


def test_the_key_is_what_earlier_ledgers_hold():
    """Ledgers outlive code: these keys were written before cells could name a crowd."""
    assert Cell("music", "major-vote", 0).key == "c2202415a7520b4e"
    assert Cell("labelme", "ccc", 1).key == "4eace350695eb986"


def test_the_key_changes_with_whatever_changes_the_result():
    cell = Cell("music", "ccc", 0)
    others = [
        replace(cell, dataset="labelme"),
        replace(cell, method="conal"),
        replace(cell, seed=1),
        replace(cell, options={"n_groups": 5}),
        replace(cell, net_options={"dropout": 0.0}),
        replace(cell, crowd={"case": "IND-I"}),
    ]
    assert len({cell.key, *(other.key for other in others)}) == len(others) + 1
    assert replace(cell, label="a name").key == cell.key
    assert replace(cell, options={"n_groups": 20}).key == cell.key  # the setting says so already


def test_a_cell_runs_for_real_and_again_the_same():
    cell = Cell("digits", "crowd-layer", 3, TINY)
    line = run_cell(cell)
    assert line["key"] == cell.key
    assert Cell(**line["cell"]) == cell
    assert len(line["curve"]) == 2
    assert line["paired"]["last"] == line["curve"][-1]
    assert line["paired"]["oracle"] == max(line["curve"])
    assert 10 < line["paired"]["last"] < 100
    assert len(line["single"]["last"]) == 2
    assert line["resolved"]["crowd"] == {"case": "IND-I", "k": 3, "seed": 3}
    assert {"seconds", "torch", "machine"} <= set(line)
    again = json.loads(json.dumps(run_cell(cell)))
    assert {**again, "seconds": 0} == {**line, "seconds": 0}


def test_the_upper_bound_learns_from_the_truth():
    low = run_cell(Cell("digits", "major-vote", 0, {"epochs": 8}))
    high = run_cell(Cell("digits", "true-labels", 0, {"epochs": 8}))
    assert high["paired"]["last"] > low["paired"]["last"] + 5


def test_a_run_that_fails_says_which():
    with pytest.raises(InputError, match=r"digits, crowd-layer, seed 0: epoch \d.*: .*lower lr"):
        run_cell(Cell("digits", "crowd-layer", 0, {**TINY, "lr": 1e30, "optimizer": "sgd"}))


def test_single_models_have_their_own_oracle():
    history = [
        {"test": 0.5, "test_each": [0.6, 0.2], "validation": 0.4},
        {"test": 0.4, "test_each": [0.1, 0.3], "validation": 0.3},
    ]
    line = scores(history)
    assert line["paired"] == {"last": 40.0, "oracle": 50.0, "validation": 50.0}
    assert line["single"] == {"last": [10.0, 30.0], "oracle": [60.0, 30.0]}
    assert line["validation_last"] == 30.0


def test_a_perfect_annotator_says_the_truth():
    data = cells._dataset("digits")
    crowd = cells._perfect(data)
    np.testing.assert_array_equal(crowd.label[crowd.item.argsort()], data.y_train)


def test_the_suites_are_what_the_issue_names():
    real = suites.cells_of("real", "all", "all", 3)
    assert len(real) == 2 * 8 * 3
    assert {cell.seed for cell in real[: 2 * 8]} == {0}  # a whole table comes first
    ablation = suites.cells_of("ablation", "music", "all", 1)
    assert len({cell.key for cell in ablation}) == len({cell.label for cell in ablation}) == 7
    groups = suites.cells_of("groups", "labelme", "all", 2)
    assert [cell.options["n_groups"] for cell in groups[:5]] == [5, 15, 25, 40, 59]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (("fake", "all", "all", 1), "there is no suite 'fake'; choose from real"),
        (("real", "mnist", "all", 1), "no setting for data set 'mnist'"),
        (("real", "music", "cc", 1), "there is no method 'cc'"),
        (("real", "music", "all", 0), "--seeds is 0"),
        (("groups", "music", "ccc", 1), "leave --methods out"),
        (("groups", "cifar10n", "all", 1), "no group counts are laid down for 'cifar10n'"),
    ],
)
def test_what_is_not_there_is_refused(wanted, message):
    with pytest.raises(InputError, match=message):
        suites.cells_of(*wanted)


def test_every_number_of_the_papers_tables_is_found():
    numbers = paper.paper_numbers()
    for dataset in ("music", "labelme"):
        assert {method for d, method in numbers if d == dataset} == set(paper.NAMES)
    assert str(numbers["labelme", "ccc"]["oracle"]) == "87.65 ± 1.10"
    assert str(numbers["labelme", "union-net"]["last"]) == "82.66 ± 0.38"
    assert str(numbers["music", "true-labels"]["oracle"]) == "82.00 ± 1.14"
    assert not any(dataset in ("digits", "cifar10n-features") for dataset, _ in numbers)
