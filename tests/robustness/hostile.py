"""Opens files that mean harm, and says what came of it; a process of its own, with little memory.

    python -m tests.robustness.hostile FOLDER

Every entry of the folder is named `kind--what`: `run` is loaded and reported on, `labels`,
`features`, `items` and `truth` are read. Prints, as JSON, each entry's error (null: it was read),
and by how many MiB the process grew.
"""

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from crowdwise import datasets, load, read_annotations  # noqa: F401
from crowdwise.batches.features import read_features
from crowdwise.engine.progress import show_epochs  # noqa: F401
from crowdwise.errors import InputError
from crowdwise.report.html import write_report
from crowdwise.simulate.truth import read_truth

ROOM = 3 * 2**30  # bytes of address space on top of what the libraries take


def features_with_items(path: Path) -> object:
    return read_features(path.parent / "features--good.npy", path)


ACTIONS: dict[str, list[Callable[[Path], object]]] = {
    "run": [load, write_report],
    "labels": [read_annotations],
    "features": [read_features],
    "items": [features_with_items],
    "truth": [read_truth],
}


def outcome(act: Callable[[Path], object], path: Path) -> str | None:
    try:
        act(path)
    except InputError as error:
        return f"InputError: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def grown() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(folder: Path) -> None:
    for path in sorted(folder.glob("*--good*")):  # what is imported at first use, is
        for act in ACTIONS[path.name.partition("--")[0]]:
            assert outcome(act, path) is None, (path, outcome(act, path))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
    before = grown()
    said = {
        f"{act.__name__} {path.name}": (outcome(act, path), round(grown() - before))
        for path in sorted(folder.iterdir())
        for act in ACTIONS.get(path.name.partition("--")[0], [])
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
