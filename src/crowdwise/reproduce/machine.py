"""What a number was measured on."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """The processor's model and how many cores there are."""
    return f"{_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
