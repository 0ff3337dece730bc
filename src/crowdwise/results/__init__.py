"""Run records and selection rules; readable without torch."""

from crowdwise.results.run import Run
from crowdwise.results.selection import RULES, select

__all__ = ["RULES", "Run", "select"]
