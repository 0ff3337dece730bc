"""Which epoch a rule picks."""

import pytest

from crowdwise.errors import InputError
from crowdwise.results import RULES, select

HISTORY = [
    {"test": 0.5, "validation": 0.9},
    {"test": 0.8, "validation": 0.9},
    {"test": 0.7, "validation": 0.1},
]


def test_every_rule_picks_its_own_epoch():
    assert [select(HISTORY, rule) for rule in ("last", "validation", "oracle")] == [2, 0, 1]
    assert set(RULES) == {"last", "validation", "oracle"}


def test_a_rule_needs_its_score_in_every_epoch():
    with pytest.raises(InputError, match="give a validation split"):
        select([*HISTORY, {"test": 0.1}], "validation")


def test_there_is_no_rule_called_best():
    with pytest.raises(InputError, match="choose from last, validation, oracle"):
        select(HISTORY, "best")
