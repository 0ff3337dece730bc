"""`python -m benchmarks` finds what runs as a script, and says so when a name is unknown."""

from pathlib import Path

import pytest

import benchmarks.__main__ as runner


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runner, "FOLDER", tmp_path)
    return tmp_path


def test_only_scripts_are_benchmarks(folder: Path) -> None:
    (folder / "reading.py").write_text('if __name__ == "__main__":\n    pass\n')
    (folder / "naive.py").write_text("def slow() -> None: ...\n")
    (folder / "__main__.py").write_text('if __name__ == "__main__":\n    pass\n')
    assert runner.benchmarks() == ["reading"]


def test_an_unknown_name_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "reading.py").write_text('if __name__ == "__main__":\n    pass\n')
    assert runner.main(["raeding"]) == 2
    assert "there are: reading" in capsys.readouterr().err


def test_a_benchmark_that_fails_fails_the_run(folder: Path) -> None:
    (folder / "absent_elsewhere.py").write_text('if __name__ == "__main__":\n    pass\n')
    assert runner.main([]) == 1  # the process that runs it does not find it
