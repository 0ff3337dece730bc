"""What the README shows, runs: its shell lines and its Python, on a small crowd."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

README = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LABELS = "item,annotator,label\n" + "".join(
    f"photo{item},{who},{('cat', 'dog')[(item + (who == 'cy' and item % 3 == 0)) % 2]}\n"
    for item in range(12)
    for who in ("ann", "bob", "cy")
)
TRUTH = "item,label\n" + "".join(f"photo{item},{('cat', 'dog')[item % 2]}\n" for item in range(12))


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCK.findall(README) if name == language]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    (tmp_path / "truth.csv").write_text(TRUTH, encoding="utf-8")
    features = np.random.default_rng(0).normal(size=(12, 2)).round(3)
    np.save(tmp_path / "features.npy", features)
    rows = "".join(f"photo{item},{a},{b}\n" for item, (a, b) in enumerate(features))
    (tmp_path / "features.csv").write_text("item,a,b\n" + rows, encoding="utf-8")
    return tmp_path


def test_the_shell_lines_run(folder: Path) -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("crowdwise ")]
    assert commands
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        subprocess.run(
            ["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path}, check=True
        )


def test_the_python_runs(folder: Path) -> None:
    assert blocks("python")
    for block in blocks("python"):
        subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=folder, check=True)


def test_make_targets_exist() -> None:
    makefile = (Path(__file__).parent.parent.parent / "Makefile").read_text(encoding="utf-8")
    targets = {
        line.split()[1] for b in blocks("sh") for line in b.splitlines() if line[:5] == "make "
    }
    assert targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
