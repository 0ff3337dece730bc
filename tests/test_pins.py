"""constraints.txt pins all that `make venv` installs, for every Python the package allows."""

import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def wanted(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""})


def needed() -> dict[str, set[str]]:
    """Every package that crowdwise[dev] brings, and theirs, each with the extras asked for."""
    own = {canonicalize_name(PROJECT["name"]): PROJECT["optional-dependencies"]}
    waiting = [Requirement(f"{PROJECT['name']}[dev]")]
    found: dict[str, set[str]] = {}
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        extras = {"", *requirement.extras}
        if extras <= found.get(name, set()):
            continue
        found[name] = found.get(name, set()) | extras
        if name in own:
            texts = PROJECT["dependencies"] + [
                text for e in requirement.extras for text in own[name][e]
            ]
        else:
            try:
                texts = distribution(name).requires or []
            except PackageNotFoundError:  # a pin, but for another system or Python
                continue
        waiting += [r for r in map(Requirement, texts) if wanted(r, found[name])]
    return found


def test_everything_that_is_installed_is_pinned() -> None:
    unpinned = set(needed()) - set(pins()) - {PROJECT["name"]}
    assert not unpinned


def test_the_pins_satisfy_what_the_package_asks_for() -> None:
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for requirement in (Requirement(text) for group in groups for text in group):
        name = canonicalize_name(requirement.name)
        if name in pins():  # the extra text is no part of dev, and not pinned
            assert pins()[name] in requirement.specifier


def test_every_pin_installs_with_the_first_python_that_is_allowed() -> None:
    first = PROJECT["requires-python"].removeprefix(">=") + ".0"
    for name, version in pins().items():
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue
        if installed.version.split("+")[0] == version:
            asked = SpecifierSet(installed.metadata["Requires-Python"] or "")
            assert first in asked, f"{name} {version} needs Python {asked}"
