"""What a number was measured on."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """The processor's model, how many cores there are, and the graphics card if one is used."""
    import torch

    card = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{_processor()}, {os.cpu_count()} cores{card}"


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
