"""Processes that run the command line, to be killed: forked, so that each starts in a moment.

    python -m tests.robustness.zygote

reads one list of arguments per line of standard input, as JSON, forks a process that runs
`crowdwise` with them (or `module:function`, if that is the first), says its number, and later how
it ended. What takes seconds to import is imported once; nothing is computed before the fork, so
there are no threads to lose.
"""

import json
import os
import subprocess
import sys
import traceback
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

EARLY = (
    *("lightning_fabric", "rich.progress", "torch._dynamo"),  # an optimiser imports the last
    *("crowdwise.engine.tensorboard", "crowdwise.estimator", "crowdwise.report.html"),
    *("crowdwise.report.training", "crowdwise.reproduce.ledger", "crowdwise.simulate"),
)


def serve() -> None:
    for name in EARLY:
        import_module(name)
    from crowdwise.cli.main import run

    for line in sys.stdin:
        number = os.fork()
        if number == 0:
            code = 1
            try:
                words = json.loads(line)
                module, _, name = words[0].partition(":")
                if name:
                    getattr(import_module(module), name)(*words[1:])
                else:
                    run(words)
                code = 0
            except SystemExit as stopped:
                code = int(stopped.code or 0)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        print(f"\n#started {number}", flush=True)
        status = os.waitpid(number, 0)[1]
        print(f"\n#ended {os.waitstatus_to_exitcode(status)}", flush=True)


class Zygote:
    """Starts commands, and waits for them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def start(self, *arguments: object) -> int:
        """Run `crowdwise` with these arguments; returns the number of its process."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([*map(str, arguments)]) + "\n")
        self.process.stdin.flush()
        return self._said("#started")

    def run(self, *arguments: object) -> int:
        """Run a command to its end."""
        self.start(*arguments)
        return self.wait()

    def wait(self) -> int:
        """How the command ended: its exit code, or a signal's number below zero."""
        return self._said("#ended")

    def _said(self, what: str) -> int:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(what):
                return int(line.split()[1])
        raise AssertionError("the zygote died")


@contextmanager
def zygote(folder: Path):
    """One, its working directory `folder`, standard error in errors.txt there."""
    with (
        (folder / "errors.txt").open("a") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.zygote"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        yield Zygote(process)
        assert process.stdin is not None
        process.stdin.close()


if __name__ == "__main__":
    serve()
