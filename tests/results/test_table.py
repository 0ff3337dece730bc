"""From lines to rows, and rows as CSV and Markdown."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdwise.results import Spread, make_rows, to_csv, to_markdown


def line(dataset, method, seed, last, label="", **cell):
    return {
        "cell": {
            "dataset": dataset,
            "method": method,
            "seed": seed,
            "options": {},
            "net_options": {},
            **cell,
        },
        "paired": {"last": last, "oracle": last + 2},
        "single": {"last": [last - 1, last - 2], "oracle": [last + 1, last]},
        "label": label,
    }


PAPER = {("music", "ccc"): {"last": Spread(72.89, 0.68, 3), "oracle": Spread(76.22, 0.42, 3)}}
LINES = [
    line("music", "ccc", 0, 70.0),
    line("labelme", "ccc", 0, 80.0),
    line("music", "ccc", 1, 71.0),
    line("music", "ccc", 0, 60.0, label="G = 5, head", options={"n_groups": 5}),
]


def test_rows_are_data_set_by_method_with_the_papers_beside():
    rows = make_rows(LINES, {"ccc": "CCC"}, PAPER)
    assert [(r.dataset, r.name, r.seeds) for r in rows] == [
        ("music", "CCC", 2),
        ("music", "G = 5, head", 1),
        ("labelme", "CCC", 1),
    ]
    first = {column: str(spread) for column, spread in rows[0].scores.items()}
    assert first == {
        "pair, last": "70.50 ± 0.71",
        "single, last": "69.00 ± 0.82",  # of 69, 68, 70, 69
        "pair, oracle": "72.50 ± 0.71",
        "single, oracle": "71.00 ± 0.82",
        "paper, last": "72.89 ± 0.68",
        "paper, oracle": "76.22 ± 0.42",
    }
    for variant_or_unprinted in rows[1:]:
        assert not any(column.startswith("paper") for column in variant_or_unprinted.scores)


@pytest.mark.parametrize("departs", [{"net_options": {"hidden": 3}}, {"crowd": {"k": 1}}])
def test_a_run_outside_the_setting_has_no_number_of_the_papers(departs):
    (row,) = make_rows([line("music", "ccc", 0, 70.0, **departs)], {}, PAPER)
    assert not any(column.startswith("paper") for column in row.scores)


def test_one_run_has_no_spread():
    assert str(Spread.of([72.126])) == "72.13"


@given(st.lists(st.floats(0, 100), min_size=2, max_size=9))
def test_the_spread_divides_by_n_minus_one(values):
    spread = Spread.of(values)
    n, mean = len(values), sum(values) / len(values)
    assert spread.mean == pytest.approx(mean)
    assert spread.sd == pytest.approx((sum((v - mean) ** 2 for v in values) / (n - 1)) ** 0.5)


def test_a_rule_only_some_runs_have_is_left_out():
    some = [*LINES[:1], LINES[2] | {"paired": {**LINES[2]["paired"], "validation": 70.0}}]
    (row,) = make_rows(some, {}, {})
    assert "pair, validation" not in row.scores
    (row,) = make_rows(some[1:], {}, {})
    assert str(row.scores["pair, validation"]) == "70.00"


def test_csv_reads_back():
    rows = make_rows(LINES, {"ccc": "CCC"}, PAPER)
    table = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [row["method"] for row in table] == ["CCC", "G = 5, head", "CCC"]
    assert table[0]["pair_last_mean"] == "70.50"
    assert table[0]["pair_last_sd"] == "0.71"
    assert table[0]["paper_oracle_mean"] == "76.22"
    assert (table[1]["pair_last_sd"], table[1]["paper_last_mean"]) == ("", "")


def test_markdown_is_one_table_without_empty_columns():
    lines = to_markdown(make_rows(LINES, {"ccc": "CCC"}, PAPER)).splitlines()
    assert lines[0].startswith("| method | seeds | pair, last | single, last | paper, last |")
    assert "validation" not in lines[0]
    assert lines[2].startswith("| CCC | 2 | 70.50 ± 0.71 |")
    assert len({row.count("|") for row in lines}) == 1


def test_every_best_on_the_test_set_is_called_oracle():
    row = line("music", "ccc", 0, 50.0)
    row["paired"]["oracle"] = 99.0
    row["single"]["oracle"] = [99.0]
    table = next(csv.DictReader(io.StringIO(to_csv(make_rows([row], {}, {})))))
    holding = {column for column, value in table.items() if value and "99.0" in value}
    assert holding == {"pair_oracle_mean", "single_oracle_mean"}
