"""A folder with a small crowd, a process that starts commands in it, and one finished run."""

import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.robustness.work import FIT, contents, prepare
from tests.robustness.zygote import Zygote, zygote


class AtWork(NamedTuple):
    folder: Path
    commands: Zygote
    whole: dict[str, bytes]  # the files of a run that nobody touched
    seconds: float  # that it took

    def errors(self) -> str:
        """What the commands since the last call wrote to standard error."""
        file = self.folder / "errors.txt"
        text = file.read_text()
        with file.open("r+") as stream:
            stream.truncate(0)
        return text


@pytest.fixture(scope="session")
def at_work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtWork]:
    if sys.platform == "win32":
        pytest.skip("SIGKILL and fork are POSIX")
    folder = tmp_path_factory.mktemp("work")
    prepare(folder)
    with zygote(folder) as commands:
        began = time.monotonic()
        assert commands.run(*FIT, "--out", "whole") == 0, (folder / "errors.txt").read_text()
        yield AtWork(folder, commands, contents(folder / "whole"), time.monotonic() - began)
    shutil.rmtree(folder)
