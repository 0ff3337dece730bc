"""Data sets by name: features or images, the crowd's labels, the truth, the splits."""

from crowdwise.datasets.dataset import Dataset
from crowdwise.datasets.registry import Entry, describe, load, names

__all__ = ["Dataset", "Entry", "describe", "load", "names"]
