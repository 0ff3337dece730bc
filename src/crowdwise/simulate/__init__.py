"""Crowds whose every property is known: the paper's synthetic cases, and harder ones."""

from crowdwise.simulate.cases import CASES
from crowdwise.simulate.crowd import SimulatedCrowd, crowd, crowd_with_details

__all__ = ["CASES", "SimulatedCrowd", "crowd", "crowd_with_details"]
