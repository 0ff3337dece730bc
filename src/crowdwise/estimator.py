"""CrowdClassifier: any method of crowdwise behind scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor, nn

from crowdwise import methods, nets
from crowdwise.aggregate.with_classifier import with_classifier
from crowdwise.annotations import Annotations
from crowdwise.annotations.align import aligned
from crowdwise.batches import CrowdData, CrowdShape
from crowdwise.batches.source import TensorSource
from crowdwise.engine import fit, predict, seeded
from crowdwise.engine.saving import read_run, write_run
from crowdwise.errors import InputError
from crowdwise.methods.base import Method
from crowdwise.methods.defaults import defaults
from crowdwise.results.run import Run

_NAMED = ("method", "net", "epochs", "seed")  # arguments that are no options of the method
OWN_NET = "your own module"  # in config.json, where the net was the user's
Record = dict[str, Any]


class CrowdClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier trained on what a crowd said.

    Args:
        method: one of `crowdwise methods`.
        net: "auto", a name of `crowdwise.nets`, a torch module that ends in a linear layer (every
            model starts from a copy of its weights, the last layer anew), or a function that
            makes such a module (called once per model).
        epochs: passes over the data; None chooses from its size, as for every option not given.
        seed: the one source of randomness.
        options: the method's own, such as `n_groups=20` or `lr=1e-3`.

    Example:
        >>> import numpy as np
        >>> X = np.repeat(np.eye(2, dtype="float32"), 20, axis=0)
        >>> said = np.repeat([[0, 0, 1], [1, 1, -1]], 20, axis=0)  # items × annotators
        >>> clf = CrowdClassifier(method="crowd-layer", net="linear", epochs=20).fit(X, said)
        >>> clf.predict(np.eye(2, dtype="float32")).tolist()
        [0, 1]
    """

    def __init__(
        self,
        method: str = "ccc",
        net: str | nn.Module | Callable[[], nn.Module] = "auto",
        epochs: int | None = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.method = method
        self.net = net
        self.epochs = epochs
        self.seed = seed
        self.options = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, options included."""
        return {name: getattr(self, name) for name in _NAMED} | self.options

    def set_params(self, **params: Any) -> CrowdClassifier:
        """Set arguments of the constructor, options included."""
        for name, value in params.items():
            if name in _NAMED:
                setattr(self, name, value)
            else:
                self.options = {**self.options, name: value}
        return self

    def fit(
        self,
        X: ArrayLike,
        annotations: Any,
        items: Sequence[Any] | None = None,
        on_epoch: Callable[[Record], None] | None = None,
    ) -> CrowdClassifier:
        """Train on the crowd's labels.

        Args:
            X: (N, …) features or images; row i describes `annotations.item_ids[i]`, or items[i].
            annotations: `Annotations`, a data frame of item, annotator, label, or a matrix of
                items × annotators with -1 or NaN where nothing was said.
            items: the ids that the rows of X describe; items nobody labelled get predictions.
            on_epoch: called with every epoch's record.
        """
        return self._train(self._prepare(X, annotations, items), on_epoch)

    def _prepare(self, X: ArrayLike, annotations: Any, items: Sequence[Any] | None) -> CrowdData:
        """Put rows and labels together, and settle every option."""
        x = np.asarray(X)
        data = CrowdData(x, aligned(_as_annotations(annotations), len(x), items))
        self.shape_ = data.shape
        self.classes_ = data.annotations.classes
        self.settings_ = self._settings(data)
        return data

    def _train(
        self, data: CrowdData, on_epoch: Callable[[Record], None] | None = None
    ) -> CrowdClassifier:
        """Train, then take stock of items and annotators."""
        with seeded(self.seed):
            self.model_ = self._build()
            self.history_ = fit(self.model_, data, on_epoch=on_epoch)
        self._take_stock(data)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities, (N, C) along `classes_`."""
        if not hasattr(self, "model_"):
            raise NotFittedError("this CrowdClassifier is not fitted yet; call fit first")
        x = np.asarray(X)
        if x.shape[1:] != self.shape_.input:
            raise InputError(
                f"rows of X have shape {x.shape[1:]}, those of the training had "
                f"{self.shape_.input}; give the same features"
            )
        if len(x) == 0:
            return np.zeros((0, len(self.classes_)))
        return predict(self.model_, TensorSource(x)).double().numpy()

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of every row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def save(self, folder: str | Path) -> Run:
        """Write a run folder that `crowdwise.load` reads; see the floor plan for its files."""
        run = Run.create(folder, self._describe())
        for record in self.history_:
            run.log(record)
        return self._write(run)

    def _write(self, run: Run) -> Run:
        frames = {"consensus": self.consensus_, "annotators": self.annotators_}
        write_run(run, self.model_.state_dict(), frames)
        return run

    def _describe(self) -> dict[str, Any]:
        """What a run folder's config.json says, enough to build the model again."""
        return {
            "net": self.net if isinstance(self.net, str) else OWN_NET,
            "parameters": {k: v for k, v in self.get_params().items() if k != "net"},
            "settings": self.settings_,
            "input": list(self.shape_.input),
            "annotators": self.shape_.n_annotators,
            "classes": self.classes_.tolist(),
        }

    def _settings(self, data: CrowdData) -> dict[str, Any]:
        """Every option of the method: what was given, then what suits the data."""
        heard = len(np.unique(data.annotations.annotator))
        chosen = defaults(self.method, len(data.labelled), heard, self.shape_)
        given = {**self.options, "seed": self.seed}
        if self.epochs is not None:
            given["epochs"] = self.epochs
            if "warmup_epochs" in chosen:
                chosen["warmup_epochs"] = self.epochs // 4
        return chosen | given

    def _build(self) -> Method:
        net, shape = self.net, self.shape_

        def make_net() -> nets.Net:
            if isinstance(net, str):
                return nets.make(net, shape.input, shape.n_classes)
            if isinstance(net, nn.Module):  # copied with its weights; only the head starts anew
                copy = nets.with_head(net)
                copy.head.reset_parameters()
                return copy
            made = net()
            return made if isinstance(made, nets.Net) else nets.with_head(made)

        return methods.create(self.method, make_net, shape, self.settings_)

    def _take_stock(self, data: CrowdData) -> None:
        """Consensus, annotators, confusions and groups, as people read them."""
        proba = predict(self.model_, data.source).double().numpy()
        together = with_classifier(data.annotations, proba)
        confusions, groups = self.model_.confusions(), self.model_.groups()
        self.confusions_ = together.confusions if confusions is None else _numpy(confusions)
        self.groups_ = None if groups is None else _numpy(groups)
        self.consensus_ = together.to_frame()
        self.annotators_ = together.annotators
        if self.groups_ is not None:
            self.annotators_ = self.annotators_.with_columns(pl.Series("group", self.groups_))


def load(folder: str | Path, net: nn.Module | None = None) -> CrowdClassifier:
    """A saved classifier, ready to predict.

    Args:
        folder: what `CrowdClassifier.save` or `crowdwise fit` wrote.
        net: the module that was trained, where it was the user's own: code is never loaded.
    """
    saved = read_run(folder)
    config = saved.run.config
    try:
        if net is None and config["net"] == OWN_NET:
            raise InputError(f"{folder}: was trained with a net of your own; give it as net=")
        classifier = CrowdClassifier(net=config["net"] if net is None else net)
        classifier.set_params(**config["parameters"])
        classifier.classes_ = np.array(config["classes"])
        shape = tuple(config["input"]), config["annotators"], len(config["classes"])
        classifier.settings_ = config["settings"]
    except KeyError as error:
        raise InputError(f"{folder}/config.json: {error} is missing; the run is damaged") from error
    classifier.shape_ = CrowdShape(*shape)
    with seeded(0):
        classifier.model_ = classifier._build()
    saved.load_into(classifier.model_)
    classifier.model_.eval()
    classifier.history_ = saved.run.history
    classifier.consensus_ = saved.frames["consensus"]
    classifier.annotators_ = saved.frames["annotators"]
    confusions, groups = classifier.model_.confusions(), classifier.model_.groups()
    classifier.confusions_ = None if confusions is None else _numpy(confusions)
    classifier.groups_ = None if groups is None else _numpy(groups)
    return classifier


def _as_annotations(given: Any) -> Annotations:
    if isinstance(given, Annotations):
        return given
    if isinstance(given, np.ndarray | list | tuple):
        return Annotations.from_dense(given)
    return Annotations.from_frame(given)


def _numpy(tensor: Tensor) -> NDArray[Any]:
    return tensor.cpu().numpy()
