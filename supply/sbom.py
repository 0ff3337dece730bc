"""Writes sbom.json: what an installation for development is made of, as CycloneDX, from the pins.

python -m supply.sbom
"""

import json
import re
import sys
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from supply.lock import ROOT, normal, pins


def sbom(wanted: dict[str, str], version: str) -> dict[str, Any]:
    """CycloneDX 1.6 of these names and versions; the same pins give the same bytes."""

    def component(name: str, version: str) -> dict[str, str]:
        purl = f"pkg:pypi/{normal(name)}@{version}"
        return {
            "type": "library",
            "bom-ref": purl,
            "name": normal(name),
            "version": version,
            "purl": purl,
        }

    said = " ".join(f"{name}=={version}" for name, version in wanted.items())
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'crowdwise {version} {said}')}",
        "version": 1,
        "metadata": {"component": component("crowdwise", version)},
        "components": [component(*pin) for pin in wanted.items()],
    }


def text() -> str:
    """What sbom.json holds."""
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert version
    said = sbom(pins((ROOT / "constraints.txt").read_text()), version[1])
    return json.dumps(said, indent=1) + "\n"


def main() -> None:
    (ROOT / "sbom.json").write_text(text())
    sys.stdout.write("wrote sbom.json\n")


if __name__ == "__main__":
    main()
