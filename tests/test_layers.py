"""The floor plan's right-hand column: which room may import what. Reads the code, runs nothing."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "crowdwise"
EVERYWHERE = {"errors", "files", "__version__"}
TORCH = {"torch", "torchvision", "lightning_fabric", "lightning", "tensorboard"}
FRAMES = {"numpy", "scipy", "polars", "pyarrow", "narwhals"}
TRUTH = re.compile(r"(^|_)(truths?|gold|clean|y_true|true_labels?)(_|$)")

# room -> which other rooms it may import
ROOMS = {
    "errors": set(),
    "files": set(),
    "annotations": set(),
    "functional": set(),
    "nets": {"functional"},
    "results": set(),
    "aggregate": {"annotations"},
    "simulate": {"annotations"},
    "batches": {"annotations"},
    "datasets": {"annotations", "simulate"},
    "methods": {"batches", "functional", "nets", "aggregate"},
    "engine": {"methods", "batches", "results"},
    "report": {"results", "annotations"},
}
ROOMS["estimator"] = set(ROOMS)
ROOMS["reproduce"] = {
    *("annotations", "simulate", "datasets", "batches", "nets", "methods"),
    *("engine", "results", "report"),
}
ROOMS["cli"] = {*ROOMS, "front door"}
ROOMS["__main__"] = {"cli"}
# Rooms held to a short list of other people's packages, and rooms that stay free of torch.
ONLY = {
    "errors": set(),
    "files": set(),
    "annotations": FRAMES,
    "functional": {"torch"},
    "nets": {"torch"},
    "results": {"numpy"},
}
NO_TORCH = {"aggregate", "simulate", "datasets", "report"}
# What a command's file may import before the command runs, so that `--help` answers at once.
LIGHT = {"typer", "crowdwise.errors", "crowdwise.files", "crowdwise.cli", "crowdwise.__version__"}


def modules(statements: Iterator[ast.AST], package: list[str]) -> Iterator[str]:
    """The full name of everything these statements import; `package` resolves leading dots."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            above = package[: len(package) - statement.level + 1] if statement.level else []
            home = ".".join([*above, *filter(None, [statement.module])])
            yield from (f"{home}.{alias.name}" for alias in statement.names)


def may_import(room: str, module: str) -> bool:
    package, *rest = module.split(".")
    if package == "crowdwise":
        # A public name taken from the front door hides its room: for the top layer only.
        ours = rest[0] if rest and rest[0] in ROOMS.keys() | EVERYWHERE else "front door"
        return ours in ROOMS[room] | EVERYWHERE | {room}
    if package in sys.stdlib_module_names:
        return True
    return package in ONLY.get(room, {package}) and not (room in NO_TORCH and package in TORCH)


def is_light(module: str) -> bool:
    package, *rest = module.split(".")
    return package in sys.stdlib_module_names | LIGHT or ".".join([package, *rest[:1]]) in LIGHT


def on_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement that runs on import: not functions' insides, not what only types need."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from on_import(child)


def names_of_truth(tree: ast.AST) -> Iterator[str]:
    """Fields, annotated names and attributes that speak of the truth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif isinstance(node, ast.Attribute):
            name = node.attr
        else:
            continue
        if TRUTH.search(name):
            yield name


def violations(source: Path) -> list[str]:
    """One sentence for each line that the floor plan forbids."""
    found = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source)
        room = place.parts[0].removesuffix(".py")
        if room == "__init__":  # the front door: tests/test_start_up.py watches what it loads
            continue
        if room not in ROOMS:
            found.append(f"{place}: the floor plan has no room {room}")
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        package = ["crowdwise", *place.parts[:-1]]
        wrong = [m for m in modules(ast.walk(tree), package) if not may_import(room, m)]
        found += [f"{place}: {room} may not import {module}" for module in wrong]
        if room == "cli":
            heavy = [m for m in modules(on_import(tree), package) if not is_light(m)]
            found += [f"{place}: imports {module} before the command runs" for module in heavy]
        if room in {"batches", "methods"}:
            found += [f"{place}: {name}: a method sees no truth" for name in names_of_truth(tree)]
    return found


def test_every_room_imports_only_what_the_floor_plan_allows() -> None:
    assert violations(SOURCE) == []


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("engine/loop.py", "from crowdwise.annotations import Annotations"),
        ("engine/loop.py", "from crowdwise import Annotations"),
        ("methods/ccc.py", "from crowdwise.engine.loop import fit"),
        ("methods/ccc.py", "from ..engine import loop"),
        ("methods/ccc.py", "from .. import engine"),
        ("methods/ccc.py", "import crowdwise.datasets"),
        ("annotations/table.py", "import torch"),
        ("functional/crowd.py", "import numpy as np"),
        ("results/runs.py", "import polars"),
        ("report/html.py", "def draw():\n    import torch.nn"),
        ("aggregate/glad.py", "import torch"),
        ("engine/loop.py", "from crowdwise.reproduce.cells import run_cell"),
        ("reproduce/cells.py", "from crowdwise.estimator import CrowdClassifier"),
        ("cli/fit.py", "import numpy"),
        ("cli/fit.py", "from crowdwise.engine import fit"),
        ("cli/fit.py", "if True:\n    from crowdwise import Annotations"),
        ("files.py", "import crowdwise.annotations"),
        ("utilities/odds.py", "import json"),
        ("batches/batch.py", "class CrowdBatch:\n    truth: object"),
        ("methods/ccc.py", "def update(batch):\n    return batch.true_labels"),
    ],
)
def test_a_forbidden_line_is_found(tmp_path: Path, file: str, code: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code, encoding="utf-8")
    assert len(violations(tmp_path)) == 1


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("annotations/table.py", "import os.path\nimport numpy as np\nfrom . import readers"),
        ("methods/ccc.py", "import torch\nfrom crowdwise.functional.crowd import crowd_loss"),
        ("cli/fit.py", "import typer\ndef fit():\n    import torch\n    import crowdwise.engine"),
        ("cli/fit.py", "if TYPE_CHECKING:\n    from crowdwise.annotations import Annotations"),
        ("estimator.py", "from crowdwise.engine import fit\nfrom crowdwise import __version__"),
        ("batches/batch.py", "class CrowdBatch:\n    row: object\n    label: object"),
    ],
)
def test_an_allowed_line_passes(tmp_path: Path, file: str, code: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code, encoding="utf-8")
    assert violations(tmp_path) == []
