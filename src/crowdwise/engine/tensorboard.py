"""Metrics as TensorBoard event files, if asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crowdwise.errors import InputError


@contextmanager
def event_files(
    folder: str | Path, anew: bool = False
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Write every epoch's numbers below `folder`; gives what `fit` takes as `on_epoch`.

    Args:
        anew: hide what is there already, as a resumed training tells its epochs again.

    Example:
        with event_files("runs/music/tensorboard") as on_epoch:
            fit(method, data, on_epoch=on_epoch)
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise InputError(
            "TensorBoard is not installed; install it with: pip install 'crowdwise[tensorboard]'"
        ) from error
    writer = SummaryWriter(folder, purge_step=0 if anew else None)

    def on_epoch(record: Mapping[str, Any]) -> None:
        for name, value in record.items():
            values = value if isinstance(value, list) else [value]
            for i, one in enumerate(values):
                if name != "epoch":
                    tag = f"{name}/{i}" if isinstance(value, list) else name
                    writer.add_scalar(tag, one, record["epoch"])
        writer.flush()

    try:
        yield on_epoch
    finally:
        writer.close()
