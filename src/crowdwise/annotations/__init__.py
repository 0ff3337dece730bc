"""The crowd's table: who said what about which item."""

from crowdwise.annotations.table import Annotations

__all__ = ["Annotations"]
