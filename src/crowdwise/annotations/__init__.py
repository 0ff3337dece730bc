"""The crowd's table: who said what about which item."""

from crowdwise.annotations.readers import read_annotations
from crowdwise.annotations.table import Annotations
from crowdwise.annotations.truth import read_truth

__all__ = ["Annotations", "read_annotations", "read_truth"]
