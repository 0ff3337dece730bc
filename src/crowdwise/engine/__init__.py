"""The loop, the devices, the evaluation, progress. It names no method."""

from crowdwise.engine.devices import make_fabric, seeded
from crowdwise.engine.evaluate import Split, predict
from crowdwise.engine.fit import fit
from crowdwise.engine.progress import show_epochs
from crowdwise.engine.tensorboard import event_files

__all__ = ["Split", "event_files", "fit", "make_fabric", "predict", "seeded", "show_epochs"]
