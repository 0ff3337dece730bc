"""Starts Python as several processes of one job, as torchrun does, and waits for them."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence

LONGEST = 300  # seconds, on a machine that does much else


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


def environment(rank: int, size: int, port: int) -> dict[str, str]:
    """What torchrun tells each process; nothing where there is one only."""
    plain = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    if size == 1:
        return plain
    return {
        **plain,
        "TORCHELASTIC_RUN_ID": "test",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "GROUP_RANK": "0",
    }


def start(arguments: Sequence[str], size: int) -> list["subprocess.Popen[str]"]:
    """`python ARGUMENTS` in `size` processes."""
    port = free_port()
    return [
        subprocess.Popen(
            [sys.executable, *arguments],
            env=environment(rank, size, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]


def run(arguments: Sequence[str], size: int) -> list[tuple[int, str, str]]:
    """Exit status, output and complaints of every process."""
    processes = start(arguments, size)
    try:
        said = [process.communicate(timeout=LONGEST) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(p.returncode, out, err) for p, (out, err) in zip(processes, said, strict=True)]
