"""The site builds strictly, and its pages fetch nothing from another host."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//
      | <link\b[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon)[^>]*\bhref=["']?(?:https?:)?//
      | url\(["']?(?:https?:)?//""",
    re.VERBOSE,
)


def test_the_site_builds_strictly_and_offline(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert pages
    assert [p.name for p in pages if FETCHED.search(p.read_text(encoding="utf-8"))] == []


def test_a_page_that_fetches_is_noticed() -> None:
    assert FETCHED.search('<link rel="stylesheet" href="https://fonts.example/css">')
    assert FETCHED.search("<script src=//cdn.example/mathjax.js>")
    assert not FETCHED.search('<a href="https://example.org/">the paper</a>')
