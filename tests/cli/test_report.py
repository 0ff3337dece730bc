"""`crowdwise report`: from a run folder alone to one page."""

from pathlib import Path

import pytest

from crowdwise.cli.main import run
from tests.report import runs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return runs.write(tmp_path / "run", runs.crowd(items=20, annotators=5))


def reported(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        run(["report", *arguments])
    return stopped.value.code


def test_the_page_lands_in_the_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(str(folder)) == 0
    page = folder / "report.html"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert capsys.readouterr().out.startswith(f"wrote {page} (")


def test_the_page_lands_where_it_is_wanted(folder: Path, tmp_path: Path) -> None:
    assert reported(str(folder), "--out", str(tmp_path / "new" / "page.html")) == 0
    assert (tmp_path / "new" / "page.html").is_file()
    assert not (folder / "report.html").exists()


def test_no_run_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "no config.json" in said
