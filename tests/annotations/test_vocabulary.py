"""Columns of a text file: numbers and booleans only where all of it is written as such."""

import polars as pl

from crowdwise.annotations.texts import encode_texts
from crowdwise.annotations.vocabulary import recognise


def test_text_is_a_number_only_if_all_of_it_is_written_as_one():
    def seen(values, role="item"):
        coded = recognise(encode_texts(pl.Series(values)), role)
        return coded.vocabulary[coded.codes].tolist()

    assert seen(["10", "-9", "0"]) == [10, -9, 0]
    assert seen(["10", "9" * 30]) == [10, int("9" * 30)]
    for values in (
        ["10", "09"],
        ["+1", "2"],
        ["-0", "1"],
        ["1.0", "2"],
        ["1 ", "2"],
        ["1", "x"],
        ["1\n", "2"],
        ["١", "2"],
    ):
        assert seen(values) == values
    assert seen(["true", "false"], "label") == [True, False]
    assert seen(["True", "False"], "truth") == [True, False]
    assert seen(["true", "false"]) == ["true", "false"]
    assert seen(["true", "False"], "label") == ["true", "False"]
    assert seen(["true", "false", "maybe"], "label") == ["true", "false", "maybe"]
