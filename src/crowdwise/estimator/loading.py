"""A saved classifier, back from its run folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from torch import nn

from crowdwise.engine import seeded
from crowdwise.engine.config import damaged
from crowdwise.engine.saving import read_run
from crowdwise.errors import InputError
from crowdwise.estimator.classifier import OWN_NET, CrowdClassifier


def load(
    folder: str | Path, net: nn.Module | Callable[[], nn.Module] | None = None
) -> CrowdClassifier:
    """A saved classifier, ready to predict.

    Args:
        folder: what `CrowdClassifier.save` or `crowdwise fit` wrote.
        net: the module that was trained (or the function that made it), where it was the user's
            own: code is never loaded.
    """
    saved = read_run(folder)
    config = saved.config
    if net is None and config.net == OWN_NET:
        raise InputError(f"{folder}: was trained with a net of your own; give it as net=")
    classifier = CrowdClassifier(net=config.net if net is None else net)
    classifier.settings_, classifier.shape_ = config.settings, config.shape
    classifier.classes_ = np.array(config.classes)
    build = partial(classifier._build, classifier.net)
    try:
        classifier.set_params(**config.parameters)
        with seeded(0):
            if net is None:
                saved.check(build)
            classifier.model_ = build()
    except InputError:
        raise
    except (AttributeError, TypeError, ValueError, RuntimeError, MemoryError) as error:
        reason = str(error).partition("\n")[0]
        raise damaged(folder, f"asks for a model that cannot be built ({reason})") from error
    saved.load_into(classifier.model_)
    classifier.model_.eval()
    classifier.history_ = saved.history
    classifier._keep(saved.frames, saved.confusions, "polars")
    return classifier
