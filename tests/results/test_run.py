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


def test_times_are_in_a_file_of_their_own(tmp_path):
    """What the same training writes is the same, however long it took."""
    for name, seconds in (("one", 0.5), ("two", 9.0)):
        run = Run.create(tmp_path / name, {})
        for epoch in (1, 2):
            run.log({"epoch": epoch, "loss": 1 / epoch, "seconds": seconds})
        assert run.history[1] == {"epoch": 2, "loss": 0.5, "seconds": seconds}
    one, two = ((tmp_path / name / "metrics.jsonl").read_bytes() for name in ("one", "two"))
    assert one == two


def test_resume_takes_up_the_same_run_only(tmp_path):
    folder = tmp_path / "run"
    config = {"net": "mlp", "settings": {"lr": 0.1, "epochs": 3}}
    run = Run.resume(folder, config)  # there is none: it begins
    run.log({"epoch": 1})
    run.log({"epoch": 2})
    run.checkpoint.mkdir()
    with pytest.raises(InputError, match="can go on; add --resume"):
        Run.create(folder, config)
    with pytest.raises(InputError, match=r"begun with lr=0\.1, not 0\.2"):
        Run.resume(folder, {"net": "mlp", "settings": {"lr": 0.2, "epochs": 3}})
    again = Run.resume(folder, config)
    assert len(again.history) == 2
    again.log({"epoch": 1})  # a resumed training tells its epochs from the first on
    assert again.history == [{"epoch": 1}]


def test_what_a_kill_left_half_written_is_swept(tmp_path):
    """A kill may come before the first file is there."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".config.json.abcd_123.part").write_text("{")
    Run.resume(folder, {})
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    (folder / ".mine.part").write_text("")
    Run.resume(folder, {})
    assert (folder / ".mine.part").exists()


def test_a_file_that_is_no_text_says_so(tmp_path):
    run = Run.create(tmp_path / "run", {})
    for name in ("config.json", "metrics.jsonl"):
        (tmp_path / "run" / name).write_bytes(b"\xff\xfe\n")
    for read in (lambda: run.config, lambda: run.history):
        with pytest.raises(InputError, match="cannot be read"):
            read()
