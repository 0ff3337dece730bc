"""Progress bars on stderr, of epochs or of a table's cells. Silent where there is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

HIDDEN = ("epoch", "rate", "seconds")


@contextmanager
def show_epochs(
    epochs: int, console: Console | None = None
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A bar over epochs, with rate, losses and scores; gives what `fit` takes as `on_epoch`.

    Example:
        >>> with show_epochs(2) as on_epoch:
        ...     on_epoch({"epoch": 1, "rate": 0.01, "loss": 1.5, "test": 0.8, "seconds": 0.1})
    """
    with show_steps("epoch", epochs, console) as advance:
        yield lambda record: advance(describe(record))


@contextmanager
def show_steps(
    what: str, total: int, console: Console | None = None
) -> Iterator[Callable[[str], None]]:
    """A bar over `total` steps; every call advances it by one and says something about the step."""
    console = console or Console(stderr=True)
    columns = (
        TextColumn(f"{what} {{task.completed}}/{{task.total}}"),
        BarColumn(bar_width=24),
        TimeLeft(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda text: progress.update(task, advance=1, description=text)


def describe(record: Mapping[str, Any]) -> str:
    """Rate, losses and scores of an epoch in one line; what is no number is left out.

    Example:
        >>> describe({"epoch": 3, "rate": 0.01, "loss": 1.5, "test": 0.8, "test_each": [0.8, 0.7]})
        'rate 0.01  loss 1.500  test 0.800'
    """
    values = [f"{k} {v:.3f}" for k, v in record.items() if k not in HIDDEN and not _several(v)]
    return "  ".join([f"rate {record['rate']:g}", *values])


class TimeLeft(ProgressColumn):
    """Time left at the mean pace so far: steps may take minutes, so rich's own window is short."""

    def render(self, task: Task) -> Text:
        if task.finished:
            return Text(f"{_clock(task.elapsed)} taken")
        if not task.completed or task.total is None:
            return Text("-:--:-- left")
        pace = (task.elapsed or 0.0) / task.completed
        return Text(f"{_clock(pace * (task.total - task.completed))} left")


def _clock(seconds: float | None) -> str:
    return str(timedelta(seconds=round(seconds or 0)))


def _several(value: Any) -> bool:
    return not isinstance(value, int | float)
