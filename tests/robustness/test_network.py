"""Nobody is called: no import and no training opens a connection or asks for an address."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GUARD = """
import sys

CALLS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
         "socket.sendmsg", "socket.bind", "urllib.Request", "http.client.connect")

def guard(event, arguments):
    if event in CALLS:
        sys.stderr.write(f"network: {event} {arguments}\\n")
        raise SystemExit(99)

sys.addaudithook(guard)
"""
EVERYTHING = """
import importlib, pkgutil, crowdwise
for module in pkgutil.walk_packages(crowdwise.__path__, "crowdwise."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
TRAINING = """
import numpy as np
from crowdwise.cli.main import run

rng = np.random.default_rng(0)
np.save("x.npy", np.eye(2)[np.arange(20) % 2] + rng.normal(size=(20, 2)))
rows = [f"{i},{r},{i % 2 if r else rng.integers(2)}" for i in range(20) for r in range(3)]
open("labels.csv", "w").write("item,annotator,label\\n" + "\\n".join(rows))
for command in (
    "fit labels.csv --features x.npy --out run --epochs 2 --set n_groups=2",
    "report run",
    "aggregate labels.csv --method dawid-skene --out consensus.csv",
):
    try:
        run(command.split())
    except SystemExit as stopped:
        assert not stopped.code, (command, stopped.code)
"""


def guarded(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", GUARD + code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("code", [EVERYTHING, TRAINING])
def test_nothing_is_asked_of_the_network(tmp_path: Path, code: str) -> None:
    done = guarded(code, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import urllib.request; urllib.request.urlopen('http://localhost:9')",
    ],
)
def test_the_guard_sees_what_it_guards_against(tmp_path: Path, code: str) -> None:
    done = guarded(code, tmp_path)
    assert (done.returncode, "network: " in done.stderr) == (99, True)
