"""One file per method, behind one contract (base.py), found by name (registry.py)."""

from crowdwise.methods.registry import create, find, names, summaries

__all__ = ["create", "find", "names", "summaries"]
