"""The page's drawings: bars as tables, training curves as SVG, the map of groups as a tiny PNG."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 300, 120  # a curve's box
MOST_POINTS = 600
_NOT_DRAWN = ("epoch", "seconds")
_NAMES = {"rate": "learning rate", "loss": "training loss"}
# Dark to bright, so that small distances are dark; stops of the viridis colour map.
STOPS = ("#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725")


@dataclass(frozen=True)
class Bar:
    """One row of a bar chart; `width` is in percent of the longest."""

    label: str
    count: int
    share: float
    width: float


@dataclass(frozen=True)
class Curve:
    """One quantity over the epochs, as points in a box of WIDTH × HEIGHT."""

    name: str
    points: str
    low: str
    high: str
    last: str
    last_x: float
    last_y: float
    logarithmic: bool
    drawn: int
    epochs: int

    @property
    def constant(self) -> bool:
        return self.low == self.high


def bars(rows: Sequence[tuple[str, int]]) -> list[Bar]:
    """Bars whose lengths and shares are relative to all rows.

    Example:
        >>> [(bar.share, bar.width) for bar in bars([("a", 3), ("b", 1)])]
        [(0.75, 100.0), (0.25, 33.33)]
    """
    total = sum(count for _, count in rows) or 1
    most = max((count for _, count in rows), default=0) or 1
    return [Bar(name, count, count / total, round(100 * count / most, 2)) for name, count in rows]


def curves(history: Sequence[Mapping[str, Any]]) -> list[Curve]:
    """A curve for everything a run's records measure, in the order in which it first appears."""
    names = dict.fromkeys(name for record in history for name in record)
    found = []
    for name in names:
        points = [
            (float(record.get("epoch", place)), float(record[name]))
            for place, record in enumerate(history, start=1)
            if isinstance(record.get(name), int | float) and math.isfinite(record[name])
        ]
        if name not in _NOT_DRAWN and points:
            found.append(_curve(_NAMES.get(name, str(name).replace("_", " ")), points))
    return found


def _curve(name: str, points: list[tuple[float, float]]) -> Curve:
    step = math.ceil(len(points) / MOST_POINTS)
    drawn = points[::-step][::-1]  # every step-th, the last one always
    x, y = (np.array(column) for column in zip(*drawn, strict=True))
    low, high = float(y.min()), float(y.max())
    logarithmic = bool(low > 0 and high > 100 * low)
    across = (x - x[0]) / max(x[-1] - x[0], 1e-300) * WIDTH
    height = np.log(y) if logarithmic else y
    flat = height.max() - height.min()
    up = (height - height.min()) / flat if flat > 0 else np.full(len(y), 0.5)
    down = HEIGHT * (1 - up)
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    return Curve(
        name,
        path,
        f"{low:.3g}",
        f"{high:.3g}",
        f"{y[-1]:.4g}",
        round(float(across[-1]), 1),
        round(float(down[-1]), 1),
        logarithmic,
        len(drawn),
        len(points),
    )


def picture(levels: NDArray[np.uint8]) -> str:
    """(H, W) levels as a data: address of a PNG in the colours of STOPS, from 0 to 255."""
    height, width = levels.shape
    stops = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in STOPS], dtype=float)
    at = np.linspace(0, len(STOPS) - 1, 256)
    palette = np.stack([np.interp(at, np.arange(len(STOPS)), stops[:, i]) for i in range(3)], 1)
    lines = np.zeros((height, width + 1), dtype=np.uint8)  # each line starts with filter 0
    lines[:, 1:] = levels
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),  # 8 bits, palette
        (b"PLTE", np.rint(palette).astype(np.uint8).tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
