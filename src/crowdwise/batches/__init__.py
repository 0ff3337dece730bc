"""What a method is fed: inputs and observed labels. There is no field for the truth."""

from crowdwise.batches.crowd import CrowdBatch, CrowdData, CrowdShape
from crowdwise.batches.images import ImageFolder
from crowdwise.batches.mapped import MappedSource
from crowdwise.batches.ranks import ALONE, Ranks
from crowdwise.batches.source import Source, StreamSource, TensorSource

__all__ = [
    "ALONE",
    "CrowdBatch",
    "CrowdData",
    "CrowdShape",
    "ImageFolder",
    "MappedSource",
    "Ranks",
    "Source",
    "StreamSource",
    "TensorSource",
]
