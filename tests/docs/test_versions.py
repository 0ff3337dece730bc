"""One version everywhere: the package, its metadata and the newest entry of the changelog."""

import re
import tomllib
from pathlib import Path

import crowdwise

ROOT = Path(__file__).parent.parent.parent


def test_the_versions_match() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(
        r"^## \[(\d+\.\d+\.\d+)\] - (?:unreleased|\d{4}-\d\d-\d\d)$", changelog, re.M
    )
    assert newest is not None
    assert crowdwise.__version__ == project["version"] == newest[1]
