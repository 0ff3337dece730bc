"""Contestants timed in turn in one process, and what is written down about it."""

import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from crowdwise.files import write_text

Times = dict[str, list[float]]


def race(contestants: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 1) -> Times:
    """Seconds of every contestant's runs; all take one turn per round, after `warm_up` rounds."""
    times: Times = {name: [] for name in contestants}
    for turn in range(warm_up + rounds):
        for name, run in contestants.items():
            start = perf_counter()
            run()
            if turn >= warm_up:
                times[name].append(perf_counter() - start)
    return times


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and most."""
    described = (statistics.median(values), min(values), max(values))
    return {
        name: float(f"{value:.4g}")
        for name, value in zip(("median", "least", "most"), described, strict=True)
    }


def ratio(times: Times, one: str, other: str) -> dict[str, float]:
    """Time of one over time of the other, round by round."""
    pairs = zip(times[one], times[other], strict=True)
    return spread([mine / theirs for mine, theirs in pairs])


def say(name: str, found: Mapping[str, float], most: float | None = None) -> None:
    """Print a ratio beside what is wanted."""
    wanted = "" if most is None else f"   at most {most} wanted"
    print(f"{name:58} {found['median']:.3f} ({found['least']:.3f}-{found['most']:.3f}){wanted}")


def write(path: Path, part: str, found: Mapping[str, Any]) -> None:
    """Put one part's result into a benchmark's JSON file; other parts stay."""
    record = json.loads(path.read_text("utf-8")) if path.exists() else {}
    record[part] = {**found, "machine": machine()}
    write_text(path, json.dumps(record, indent=2) + "\n")


def machine() -> dict[str, Any]:
    """The kind of machine, how many threads, and the versions that matter."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text("utf-8") if Path("/proc/cpuinfo").exists() else ""
    names = [line.split(":")[1].strip() for line in lines.splitlines() if "model name" in line]
    family = [line.split(":")[1].strip() for line in lines.splitlines() if "cpu family" in line]
    name = names[0] if names else platform.processor()
    return f"{name} (family {family[0]})" if family else name
