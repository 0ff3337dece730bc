"""Options from the size of the data, for people who set none (chosen in docs/defaults.md)."""

from __future__ import annotations

from typing import Any

from crowdwise.batches import CrowdShape
from crowdwise.methods.registry import canonical

UPDATES = 10_000  # batches a classifier should see, as far as the bounds on epochs allow
BATCH = 128


def defaults(method: str, n_items: int, n_heard: int, shape: CrowdShape) -> dict[str, Any]:
    """Options of a method for n_items labelled items and n_heard annotators with labels."""
    batches = -(-n_items // BATCH)
    epochs = min(max(round(UPDATES / batches), 20), 200)
    options: dict[str, Any] = {
        "epochs": epochs,
        "batch_size": BATCH,
        "lr": 3e-3 if len(shape.input) == 1 else 1e-3,
        "optimizer": "adam",
        "n_models": 2,
    }
    if canonical(method) == "ccc":
        options |= {
            "warmup_epochs": epochs // 4,
            "n_groups": min(max(n_heard // 2, 2), 30, n_heard),
            "meta_size": min(max(n_items // 4, shape.n_classes), 1000),
            "correction_rate": 0.3,
            "active": "all" if len(shape.input) == 1 else "head",
        }
    return options
