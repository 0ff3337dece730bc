"""Links between the pages lead somewhere, and the trees and tables name the rooms there are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SOURCE = ROOT / "src" / "crowdwise"
NO_ROOMS = {"__init__", "__main__", "errors", "files"}
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    targets = [t for t in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in t]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "docs/layout.md"])
def test_every_room_has_a_line(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - NO_ROOMS
    rooms = packages | modules
    assert [r for r in rooms if not re.search(rf"^[ |`]*{r}(?:/|`|\.py)", text, re.M)] == []


def test_what_the_readme_lists_is_there() -> None:
    tree = (ROOT / "README.md").read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    entries = [line.split()[0] for line in tree.splitlines()[1:]]
    assert entries
    assert [e for e in entries if not ((SOURCE / e).exists() or (ROOT / e).exists())] == []
