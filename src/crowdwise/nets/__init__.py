"""Networks: a backbone and its last linear layer, made by name or from a user's module."""

from crowdwise.nets.net import Net, with_head

__all__ = ["Net", "with_head"]
