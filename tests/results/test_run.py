"""A run folder: readable at any moment, never taken for another."""

import pytest

from crowdwise.errors import InputError
from crowdwise.results import Run


def test_a_cut_line_is_left_out(tmp_path):
    run = Run.create(tmp_path / "run", {"method": "ccc"})
    run.log({"epoch": 1})
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"epoch": 2, "lo')
    assert Run.open(tmp_path / "run").history == [{"epoch": 1}]


def test_an_unfinished_run_starts_anew_and_a_finished_one_is_kept(tmp_path):
    run = Run.create(tmp_path / "run", {"seed": 0})
    run.log({"epoch": 1})
    again = Run.create(tmp_path / "run", {"seed": 1})
    assert (again.history, again.config, again.done) == ([], {"seed": 1}, False)
    again.finish()
    assert again.done
    with pytest.raises(InputError, match="holds a finished run"):
        Run.create(tmp_path / "run", {})


def test_folders_of_something_else_are_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="holds no run"):
        Run.create(tmp_path / "mine", {})
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        Run.create(tmp_path / "file", {})
    with pytest.raises(InputError, match="no config"):
        Run.open(tmp_path / "absent")


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_a_damaged_run_says_so(tmp_path, text):
    run = Run.create(tmp_path / "run", {})
    (tmp_path / "run" / "config.json").write_text(text)
    with pytest.raises(InputError, match="damaged"):
        run.config  # noqa: B018
