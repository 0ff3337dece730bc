"""Text to codes by hashes: exact even where hashes collide."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from crowdwise.annotations import vocabulary
from crowdwise.annotations.vocabulary import encode_texts, recognise


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=40))
def test_codes_are_those_of_the_sorted_distinct_texts(values):
    codes, texts = encode_texts(pl.Series(values, dtype=pl.String))
    assert texts.to_list() == sorted(set(values))
    assert texts.gather(codes).to_list() == values


class ClumsySeries:
    """A column whose hash with seed 0 confuses all texts of equal length."""

    def __init__(self, series: pl.Series, seeds: list[int]) -> None:
        self.series, self.seeds = series, seeds

    def hash(self, seed: int) -> pl.Series:
        self.seeds.append(seed)
        return self.series.str.len_bytes().cast(pl.UInt64) if seed == 0 else self.series.hash(seed)

    def gather(self, rows):
        return self.series.gather(rows)

    def __len__(self) -> int:
        return len(self.series)

    def __getitem__(self, part: slice) -> pl.Series:
        return self.series[part]


def test_a_collision_of_hashes_is_found_and_separated():
    seeds: list[int] = []
    column = ClumsySeries(pl.Series(["bb", "aa", "c", "bb"]), seeds)
    codes, texts = encode_texts(column)  # type: ignore[arg-type]
    assert texts.gather(codes).to_list() == ["bb", "aa", "c", "bb"]
    assert seeds == [0, 1]


def test_many_values_in_parts(monkeypatch):
    monkeypatch.setattr(vocabulary, "PART", 1_000)
    numbers = np.random.default_rng(0).integers(0, 3_000, 10_007)
    column = pl.Series([f"v{n}" for n in numbers])
    codes, texts = encode_texts(column)
    assert texts.gather(codes).equals(column)
    assert vocabulary.text_array(texts).tolist() == sorted(set(column.to_list()))


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
