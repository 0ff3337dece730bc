"""`crowdwise methods` lists what there is, at once."""

import json
import subprocess
import sys

import pytest

from crowdwise.cli.main import run
from crowdwise.methods import names, summaries


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        run(["methods", *arguments])
    assert stopped.value.code == 0
    return capsys.readouterr().out


def test_one_line_about_each_method(capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys).splitlines()
    assert [line.split()[0] for line in lines] == names()
    assert {line.split(maxsplit=1)[1] for line in lines} == set(summaries().values())
    assert "ccc" in names()


def test_json_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(listed(capsys, "--json")) == summaries()


def test_the_list_needs_no_torch() -> None:
    code = """
import sys
from crowdwise.cli.main import run
try:
    run(["methods"])
finally:
    heavy = {"torch", "polars", "numpy"} & set(sys.modules)
    assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
