"""Start-up is light: no torch, no data frames, no numpy before a command needs them."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("crowdwise")
WITHOUT_TORCH = ["annotations", "simulate", "aggregate", "datasets", "results", "report"]


def loaded_after(code: str) -> set[str]:
    """The top-level packages in a fresh interpreter's memory once it has run `code`."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


def test_importing_crowdwise_loads_nothing_heavy() -> None:
    heavy = {"numpy", "scipy", "polars", "pandas", "pyarrow", "narwhals", "sklearn", "torch"}
    assert loaded_after("import crowdwise") & heavy == set()


def test_gathering_the_commands_loads_nothing_heavy() -> None:
    heavy = {"numpy", "scipy", "polars", "pandas", "sklearn", "torch", "altair", "jinja2"}
    assert loaded_after("import crowdwise.cli.main") & heavy == set()


@pytest.mark.parametrize("room", WITHOUT_TORCH)
def test_rooms_that_do_not_train_leave_torch_alone(room: str) -> None:
    source = Path(__file__).parent.parent / "src" / "crowdwise" / room
    files = [path.stem for path in source.glob("*.py") if path.stem != "__init__"]
    imports = "\n".join(f"import crowdwise.{room}.{name}" for name in files)
    assert "torch" not in loaded_after(f"import crowdwise\n{imports}")


def test_help_answers_at_once() -> None:
    """Counted in seconds of a core, so that what else the machine is doing does not matter."""

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([COMMAND, "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.3
