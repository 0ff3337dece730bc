"""Progress on a terminal, silence elsewhere, and event files."""

import io
import sys

import pytest
from rich.console import Console

from crowdwise.engine import event_files, fit, seeded, show_epochs
from crowdwise.engine.progress import show_steps
from crowdwise.errors import InputError
from tests.engine import small


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)


def test_a_terminal_sees_epoch_rate_loss_score_and_time_left():
    console = terminal()
    with show_epochs(3, console) as on_epoch, seeded(0):
        fit(small.method(), small.data(), {"validation": small.data()}, on_epoch=on_epoch)
    shown = console.file.getvalue()
    for part in ("epoch 3/3", "rate 0.01", "loss ", "validation ", "taken"):
        assert part in shown


def test_time_left_is_there_before_the_end():
    console = terminal()
    with show_steps("cell", 4, console) as advance:
        advance("music ccc")
    shown = console.file.getvalue()
    assert "cell 1/4" in shown
    assert "music ccc" in shown
    assert "left" in shown


def test_without_a_terminal_there_is_silence(capfd):
    with show_epochs(1) as on_epoch:
        on_epoch({"epoch": 1, "rate": 0.1, "loss": 2.0})
    assert capfd.readouterr() == ("", "")


def test_event_files_hold_every_number(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with event_files(tmp_path) as on_epoch:
        on_epoch({"epoch": 1, "rate": 0.1, "loss": 2.0, "test_each": [0.5, 0.25]})
        on_epoch({"epoch": 2, "rate": 0.1, "loss": 1.0, "test_each": [0.5, 0.75]})
    events = EventAccumulator(str(tmp_path)).Reload()
    assert set(events.Tags()["scalars"]) == {"rate", "loss", "test_each/0", "test_each/1"}
    assert [(e.step, e.value) for e in events.Scalars("loss")] == [(1, 2.0), (2, 1.0)]
    assert [e.value for e in events.Scalars("test_each/1")] == [0.25, 0.75]


def test_without_tensorboard_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match=r"pip install 'crowdwise\[tensorboard\]'"):
        event_files(tmp_path).__enter__()
