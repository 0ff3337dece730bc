"""Writes requirements.lock: every pin of constraints.txt with the sha256 of each of its files.

    python -m supply.lock [--index https://pypi.org/simple] [--torch DIRECTORY_OR_PAGE]

The hashes are the index's own. torch is left out: its CPU build comes from another index (or from a
folder of wheels) than its CUDA build, under the same version, so no list of hashes fits both; see
docs/decisions/0005-hashes.md.
"""

import re
import sys
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)$")
FILE = re.compile(r'href="[^"]*?/([^/"#]+)#sha256=([0-9a-f]{64})')
HEAD = """\
# Written by `python -m supply.lock` from constraints.txt: every pin with the sha256 of its files.
# `make venv` installs these with --require-hashes; torch, by its pin, beside them.
"""


def pins(constraints: str) -> dict[str, str]:
    """Names and versions, in order.

    Example:
        >>> pins("# a comment\\nJinja2==3.1.6\\n")
        {'Jinja2': '3.1.6'}
    """
    found = (PIN.match(line) for line in constraints.splitlines())
    return {match[1]: match[2] for match in found if match}


def normal(name: str) -> str:
    """A project's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def hashes(page: str, name: str, version: str) -> list[str]:
    """The sha256 of every file of one version, off an index's page.

    Example:
        >>> page = f'<a href="../a/Jinja2-3.1.6-py3-none-any.whl#sha256={"0" * 64}">'
        >>> hashes(page, "jinja2", "3.1.6") == ["0" * 64]
        True
    """
    start = f"{normal(name)}-{version}"
    ends = ("-", ".tar.gz", ".zip")

    def fits(file: str) -> bool:
        project, dash, rest = file.partition(f"-{version}")
        return bool(dash) and normal(project) == normal(name) and rest.startswith(ends)

    found = {digest for file, digest in FILE.findall(page) if fits(file)}
    if not found:
        raise SystemExit(f"{start}: the index lists no file with a sha256")
    return sorted(found)


def lock(wanted: dict[str, str], index: str) -> str:
    """The lock's text."""

    def entry(pin: tuple[str, str]) -> str:
        name, version = pin
        request = Request(f"{index}/{normal(name)}/", headers={"Accept": "text/html"})
        with urlopen(request, timeout=60) as answer:
            page = answer.read().decode()
        lines = [f"    --hash=sha256:{digest}" for digest in hashes(page, name, version)]
        return " \\\n".join([f"{name}=={version}", *lines])

    with ThreadPoolExecutor(8) as pool:
        entries = list(pool.map(entry, [pin for pin in wanted.items() if pin[0] != "torch"]))
    return HEAD + "\n".join(entries) + "\n"


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--index", default="https://pypi.org/simple")
    chosen = parser.parse_args()
    text = lock(pins((ROOT / "constraints.txt").read_text()), chosen.index.rstrip("/"))
    (ROOT / "requirements.lock").write_text(text)
    sys.stdout.write(f"{text.count('--hash')} hashes of {text.count('==')} packages\n")


if __name__ == "__main__":
    main()
