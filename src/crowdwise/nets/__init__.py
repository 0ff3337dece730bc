"""Networks: a backbone and its last linear layer, made by name or from a user's module."""

from crowdwise.nets.net import Net, with_head
from crowdwise.nets.registry import make, names

__all__ = ["Net", "make", "names", "with_head"]
