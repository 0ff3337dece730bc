"""`python -m benchmarks [NAME ...]` runs the named benchmarks, or all of them, one after another.

A benchmark is a file of this folder that can be run as a script. Each gets a process of its own, so
that one's memory and threads do not weigh on the next.
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def benchmarks() -> list[str]:
    """The files that run as scripts; what others import (naive definitions) is left out."""
    files = [path for path in FOLDER.glob("*.py") if not path.stem.startswith("__")]
    scripts = [path for path in files if '__name__ == "__main__"' in path.read_text("utf-8")]
    return sorted(path.stem for path in scripts)


def main(names: list[str]) -> int:
    known = benchmarks()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    failed = []
    for name in names or known:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
