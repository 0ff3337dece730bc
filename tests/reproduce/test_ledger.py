"""Ledgers: nothing runs twice, a kill costs what was running, processes change no number."""

import json

import pytest

from crowdwise.errors import InputError
from crowdwise.reproduce import ledger
from crowdwise.reproduce.cells import Cell

TINY = {"epochs": 1, "batch_size": 1024}
CELLS = [Cell("digits", method, seed, TINY) for seed in (0, 1) for method in ("conal", "ccc")]


@pytest.fixture
def counted(monkeypatch):
    """run_cell made quick; the list of cells it was called with."""
    called = []

    def quick(cell, state):
        called.append(cell)
        return {"key": cell.key, "cell": {"method": cell.method}, "paired": {"last": 1.0}}

    monkeypatch.setattr(ledger, "run_cell", quick)
    return called


def test_what_is_finished_is_not_run_again(tmp_path, counted):
    path = tmp_path / "new" / "cells.jsonl"
    ledger.run(CELLS[:2], path)
    lines = ledger.run(CELLS, path)
    assert counted == CELLS
    assert [line["key"] for line in lines] == [cell.key for cell in CELLS]
    assert len(path.read_text().splitlines()) == 4


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_cut_off_by_a_kill_is_dropped_and_run_again(tmp_path, counted, cut):
    path = tmp_path / "cells.jsonl"
    ledger.run(CELLS, path)
    whole = path.read_text()
    path.write_text(whole[:-cut])
    counted.clear()
    assert set(ledger.read(path)) == {cell.key for cell in CELLS[:3]}
    ledger.run(CELLS, path)
    assert counted == CELLS[3:]
    assert path.read_text() == whole


def test_an_interrupt_keeps_what_is_done(tmp_path, counted):
    path = tmp_path / "cells.jsonl"

    def interrupt(line):
        if line["key"] == CELLS[1].key:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.run(CELLS, path, on_line=interrupt)
    assert list(ledger.read(path)) == [cell.key for cell in CELLS[:2]]


def test_two_names_for_one_run_are_run_once(tmp_path, counted):
    twice = [Cell("digits", "ccc", 0, TINY, label=label) for label in ("a", "b")]
    lines = ledger.run(twice, tmp_path / "cells.jsonl")
    assert len(counted) == 1
    assert [line["label"] for line in lines] == ["a", "b"]


def test_another_ledgers_lines_are_taken_over(tmp_path, counted):
    mine, other = tmp_path / "mine" / "cells.jsonl", tmp_path / "other.jsonl"
    ledger.run([*CELLS[:2], Cell("digits", "ccc", 9, TINY)], other)
    with other.open("a") as file:
        file.write('{"key": "cut o')
    ledger.run(CELLS[:1], mine)
    assert ledger.merge(mine, other, CELLS) == 1
    assert ledger.merge(mine, other, CELLS) == 0
    assert set(ledger.read(mine)) == {cell.key for cell in CELLS[:2]}
    with pytest.raises(InputError, match="no such file"):
        ledger.merge(mine, tmp_path / "absent", CELLS)


@pytest.mark.parametrize("text", ["not json\n", "{}\n", "[1]\n", "3\n"])
def test_a_foreign_line_is_named(tmp_path, text):
    path = tmp_path / "cells.jsonl"
    path.write_text('{"key": "a"}\n' + text)
    with pytest.raises(InputError, match=r"cells\.jsonl, line 2"):
        ledger.read(path)


@pytest.mark.slow
def test_two_processes_give_the_lines_that_one_gives(tmp_path):
    for jobs in (1, 2):
        ledger.run(CELLS, tmp_path / f"{jobs}.jsonl", jobs=jobs)
    one, two = (
        {
            line["key"]: line | {"seconds": 0}
            for line in map(json.loads, (tmp_path / f"{jobs}.jsonl").read_text().splitlines())
        }
        for jobs in (1, 2)
    )
    assert len(one) == 4
    assert one == two
