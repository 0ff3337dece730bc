"""A training that takes a moment, and what it leaves behind."""

from pathlib import Path

import numpy as np

N, R = 96, 8
FIT = (
    *("fit", "labels.csv", "--features", "x.npy", "--method", "ccc", "--net", "mlp"),
    *("--epochs", 4, "--set", "warmup_epochs=2", "--set", "batch_size=16", "--set", "n_groups=3"),
    *("--set", "selection=validation", "--checkpoint-minutes", 0),  # after every batch
)
WALL_CLOCK = {"times.jsonl", "report.html"}  # the report says how long it took


def prepare(folder: Path) -> None:
    """The files that `FIT` reads."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    np.save(folder / "x.npy", (2 * np.eye(3, 8)[y] + rng.normal(size=(N, 8))).astype(np.float32))
    rows = [
        f"{i},{r},{y[i] if rng.random() < 0.7 else rng.integers(0, 3)}"
        for i in range(N)
        for r in rng.choice(R, 4, replace=False)
    ]
    (folder / "labels.csv").write_text("\n".join(["item,annotator,label", *rows]) + "\n")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def differences(found: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    """Files that are in one only, or of other bytes; time aside."""
    names = sorted(({*found, *wanted}) - WALL_CLOCK)
    return [name for name in names if found.get(name) != wanted.get(name)]
