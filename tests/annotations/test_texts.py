"""Text to codes by hashes, part by part: exact even where hashes collide."""

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdwise.annotations import read_annotations, texts
from crowdwise.annotations.texts import Collision, TextCoder, encode_texts
from crowdwise.annotations.vocabulary import text_array

columns = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=40)


@given(columns, st.integers(1, 41))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_codes_are_those_of_the_sorted_distinct_texts(monkeypatch, values, part):
    monkeypatch.setattr(texts, "PART", part)
    codes, distinct = encode_texts(pl.Series(values, dtype=pl.String))
    assert distinct.to_list() == sorted(set(values))
    assert distinct.gather(codes).to_list() == values


@pytest.mark.parametrize("part", [1, 2, 4])  # what collides is in one part, or in several
def test_a_collision_of_hashes_is_found_and_separated(monkeypatch, part):
    seeds: list[int] = []

    def clumsy(column: pl.Series, seed: int) -> pl.Series:
        """With seed 0 all texts of equal length have one hash."""
        seeds.append(seed)
        return column.str.len_bytes().cast(pl.UInt64) if seed == 0 else column.hash(seed)

    monkeypatch.setattr(texts, "hash_of", clumsy)
    monkeypatch.setattr(texts, "PART", part)
    codes, distinct = encode_texts(pl.Series(["bb", "aa", "c", "bb"]))
    assert distinct.gather(codes).to_list() == ["bb", "aa", "c", "bb"]
    assert set(seeds) == {0, 1}


def test_many_values_in_parts(monkeypatch):
    monkeypatch.setattr(texts, "PART", 1_000)
    numbers = np.random.default_rng(0).integers(0, 3_000, 10_007)
    column = pl.Series([f"v{n}" for n in numbers])
    codes, distinct = encode_texts(column)
    assert distinct.gather(codes).equals(column)
    assert text_array(distinct).tolist() == sorted(set(column.to_list()))


def test_a_file_whose_texts_collide_is_read_with_the_next_seed(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("item,user,label\n1,ann,x\n1,bob,y\n2,bob,y\n")
    expected = read_annotations(tmp_path / "t.csv")
    tried = []

    def add(coder: TextCoder, column: pl.Series) -> None:
        tried.append(coder._seed)
        if coder._seed < 2 and "bob" in column:
            raise Collision
        whole(coder, column)

    whole = TextCoder.add
    monkeypatch.setattr(TextCoder, "add", add)
    assert read_annotations(tmp_path / "t.csv") == expected
    assert max(tried) == 2
