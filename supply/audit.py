"""Are the pins known to be vulnerable? Asks a folder of OSV's files, never the network.

    CROWDWISE_OSV=osv/ python -m supply.audit

The folder is what https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip unpacks to: one
JSON file per vulnerability. Exit code 1 where a pin is affected; without a folder it says so.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from packaging.version import InvalidVersion, Version

from supply.lock import ROOT, normal, pins


class Finding(NamedTuple):
    name: str
    version: str
    vulnerability: str
    summary: str
    fixed: str


def audit(wanted: dict[str, str], folder: Path) -> list[Finding]:
    """The vulnerabilities that a folder of OSV files knows of these pins."""
    by_name = {normal(name): version for name, version in wanted.items()}
    found = []
    for path in sorted(folder.rglob("*.json")):
        said = json.loads(path.read_text(encoding="utf-8"))
        if said.get("withdrawn"):
            continue
        for affected in said.get("affected", []):
            package = affected.get("package", {})
            name = normal(package.get("name", ""))
            if package.get("ecosystem") != "PyPI" or name not in by_name:
                continue
            version = by_name[name]
            if version in affected.get("versions", []) or _in_ranges(version, affected):
                fixed = ", ".join(sorted({e["fixed"] for e in _events(affected) if "fixed" in e}))
                summary = said.get("summary") or said.get("details", "")[:80]
                found.append(Finding(name, version, said["id"], summary, fixed or "no fix yet"))
    return found


def _events(affected: dict[str, Any]) -> Iterator[dict[str, str]]:
    for span in affected.get("ranges", []):
        if span.get("type") == "ECOSYSTEM":
            yield from span.get("events", [])


def _in_ranges(version: str, affected: dict[str, Any]) -> bool:
    """OSV's rule: of the events up to this version, does the last one introduce?"""
    here = Version(version)
    for span in affected.get("ranges", []):
        if span.get("type") != "ECOSYSTEM":
            continue
        inside = False
        for event in sorted(span.get("events", []), key=_place):
            if "introduced" in event and _place(event)[0] <= here:
                inside = True
            elif ("fixed" in event and _place(event)[0] <= here) or (
                "last_affected" in event and _place(event)[0] < here
            ):
                inside = False
        if inside:
            return True
    return False


def _place(event: dict[str, str]) -> tuple[Version, bool]:
    text = next(iter(event.values()))
    try:
        return Version(text), "introduced" not in event
    except InvalidVersion:
        return Version("0"), False


def main() -> None:
    folder = os.environ.get("CROWDWISE_OSV")
    if not folder:
        sys.stdout.write("CROWDWISE_OSV names no folder of OSV files: nothing was checked\n")
        return
    if not any(Path(folder).rglob("*.json")):
        sys.exit(f"{folder}: holds no OSV files; unpack PyPI/all.zip there")
    wanted = pins((ROOT / "constraints.txt").read_text())
    found = audit(wanted, Path(folder))
    for one in found:
        sys.stdout.write(
            f"{one.name} {one.version}: {one.vulnerability}, {one.summary} ({one.fixed})\n"
        )
    sys.stdout.write(f"{len(wanted)} pins, {len(found)} known vulnerabilities\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
