"""Every tutorial runs as it is printed: its blocks, in order, in one folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parent.parent.parent / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script(page: Path) -> str:
    """The page as one bash script: a row of Python blocks is one program and shares its names."""
    steps: list[tuple[str, str]] = []
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if steps and steps[-1][0] == language:
            steps[-1] = (language, steps[-1][1] + text)
        else:
            steps.append((language, text))
    lines = ["set -e"]
    for language, text in steps:
        run = f"{sys.executable} -W error - <<'END_OF_BLOCK'\n{text}END_OF_BLOCK"
        lines.append(run if language == "python" else text)
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_as_printed(page: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script(page)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_there_are_tutorials_and_a_failing_block_would_fail(tmp_path: Path) -> None:
    assert len(TUTORIALS) >= 3
    page = tmp_path / "page.md"
    page.write_text(
        "```python\na = 1\n```\ntext\n```python\nassert a == 2\n```\n```sh\ntrue\n```\n"
    )
    assert subprocess.run(["bash", "-c", script(page)], check=False).returncode != 0
