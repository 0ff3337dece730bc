"""The loop, the devices, the evaluation. It names no method."""

from crowdwise.engine.devices import make_fabric, seeded
from crowdwise.engine.evaluate import Split, predict
from crowdwise.engine.fit import fit

__all__ = ["Split", "fit", "make_fabric", "predict", "seeded"]
