"""Every method that comes with crowdwise has a page, and the page names every option of its own."""

from dataclasses import fields
from pathlib import Path

import pytest

from crowdwise.methods import find
from crowdwise.methods.options import Options
from crowdwise.methods.registry import BUILT_IN

PAGES = Path(__file__).parent.parent.parent / "docs" / "methods"
SHARED = {field.name for field in fields(Options)}


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_page_names_the_methods_own_options(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    own = {field.name for field in fields(find(name).options_type)} - SHARED
    assert {option for option in own if f"`{option}`" not in page} == set()


def test_the_index_names_the_shared_options_and_every_method() -> None:
    page = (PAGES / "index.md").read_text(encoding="utf-8")
    assert {option for option in SHARED if f"`{option}`" not in page} == set()
    pages = [p for p in PAGES.glob("*.md") if p.stem != "index"]
    assert {p.name for p in pages if f"({p.name})" not in page} == set()
    assert {name for name in BUILT_IN if not (PAGES / f"{name}.md").exists()} == set()
