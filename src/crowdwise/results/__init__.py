"""Run records and selection rules; readable without torch."""

from crowdwise.results.run import Run
from crowdwise.results.selection import RULES, select
from crowdwise.results.table import Row, Spread, make_rows, to_csv, to_markdown

__all__ = ["RULES", "Row", "Run", "Spread", "make_rows", "select", "to_csv", "to_markdown"]
