"""What a method is fed: inputs and observed labels. There is no field for the truth."""

from crowdwise.batches.crowd import CrowdBatch, CrowdData, CrowdShape

__all__ = ["CrowdBatch", "CrowdData", "CrowdShape"]
