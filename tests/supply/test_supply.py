"""The pins, their hashes and the bill of materials say the same; the audit finds what it should."""

import json
import re
from pathlib import Path

import pytest

from supply import audit, lock, sbom

ROOT = Path(__file__).parents[2]
PINS = lock.pins((ROOT / "constraints.txt").read_text())


def test_every_pin_has_hashes_but_torchs() -> None:
    """torch's builds differ by index; docs/decisions/ says why."""
    text = (ROOT / "requirements.lock").read_text()
    locked = lock.pins(re.sub(r" \\\n    --hash=sha256:[0-9a-f]{64}", "", text))
    assert locked == {name: version for name, version in PINS.items() if name != "torch"}
    entries = re.split(r"\n(?=\w)", text)[1:]
    assert len(entries) == len(locked)
    assert all("--hash=sha256:" in entry for entry in entries)


def test_hashes_come_off_an_indexs_page() -> None:
    page = "\n".join(
        f'<a href="https://host/{file}#sha256={digit * 64}">{file}</a>'
        for digit, file in [
            ("a", "my_tool-1.0-py3-none-any.whl"),
            ("b", "my-tool-1.0.tar.gz"),
            ("c", "my_tool-1.0.1-py3-none-any.whl"),
            ("d", "my_tool_more-1.0-py3-none-any.whl"),
            ("e", "my_tool-1.0.post1.tar.gz"),
        ]
    )
    assert lock.hashes(page, "My.Tool", "1.0") == ["a" * 64, "b" * 64]
    with pytest.raises(SystemExit, match=r"my-tool-2\.0"):
        lock.hashes(page, "my_tool", "2.0")


def test_the_bill_of_materials_is_that_of_the_pins() -> None:
    """Stale? `make lock` writes it anew."""
    text = (ROOT / "sbom.json").read_text()
    assert text == sbom.text()
    said = json.loads(text)
    assert (said["bomFormat"], said["specVersion"]) == ("CycloneDX", "1.6")
    named = {part["name"]: part["version"] for part in said["components"]}
    assert named == {lock.normal(name): version for name, version in PINS.items()}
    assert all(part["purl"].startswith("pkg:pypi/") for part in said["components"])


def vulnerability(folder: Path, number: str, **affected: object) -> None:
    package = {"ecosystem": "PyPI", "name": "Some_Tool"}
    said = {"id": number, "summary": "bad", "affected": [{"package": package, **affected}]}
    (folder / f"{number}.json").write_text(json.dumps(said))


def span(*events: dict[str, str]) -> list[dict]:
    return [{"type": "ECOSYSTEM", "events": list(events)}]


@pytest.mark.parametrize(
    ("affected", "versions"),
    [
        ({"versions": ["1.0", "1.1"]}, ["1.0", "1.1"]),
        ({"ranges": span({"introduced": "0"}, {"fixed": "1.1"})}, ["0.9", "1.0"]),
        ({"ranges": span({"introduced": "1.0"})}, ["1.0", "1.1", "1.10", "2.0"]),
        ({"ranges": span({"introduced": "1.1"}, {"last_affected": "1.10"})}, ["1.1", "1.10"]),
        (
            {
                "ranges": span(
                    *({"introduced": "2.0"}, {"fixed": "1.0"}, {"introduced": "0"}),
                )
            },
            ["0.9", "2.0"],
        ),
        ({"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}, []),
        ({"package": {"ecosystem": "npm", "name": "some-tool"}, "versions": ["1.0"]}, []),
        ({"package": {"ecosystem": "PyPI", "name": "some-tools"}, "versions": ["1.0"]}, []),
    ],
)
def test_the_audit_finds_what_is_affected(
    tmp_path: Path, affected: dict, versions: list[str]
) -> None:
    vulnerability(tmp_path, "PYSEC-1", **affected)
    for version in ("0.9", "1.0", "1.1", "1.10", "2.0"):
        found = audit.audit({"some-tool": version, "other": "1.0"}, tmp_path)
        assert [one.vulnerability for one in found] == ["PYSEC-1"] * (version in versions), version


def test_the_command_says_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.delenv("CROWDWISE_OSV", raising=False)
    audit.main()
    assert "nothing was checked" in capsys.readouterr().out
    monkeypatch.setenv("CROWDWISE_OSV", str(tmp_path))
    with pytest.raises(SystemExit, match="holds no OSV files"):
        audit.main()
    vulnerability(tmp_path, "PYSEC-2", versions=["1.0"])
    with pytest.raises(SystemExit) as stopped:
        audit.main()
    assert stopped.value.code == 0
    name, version = next(iter(PINS.items()))
    package = {"ecosystem": "PyPI", "name": name}
    vulnerability(tmp_path, "PYSEC-3", package=package, versions=[version])
    with pytest.raises(SystemExit) as stopped:
        audit.main()
    assert stopped.value.code == 1
    assert f"{name} {version}: PYSEC-3, bad (no fix yet)" in capsys.readouterr().out
