"""The scikit-learn face: a classifier that learns from a crowd, and how to load a saved one."""

from crowdwise.estimator.classifier import CrowdClassifier
from crowdwise.estimator.loading import load

__all__ = ["CrowdClassifier", "load"]
