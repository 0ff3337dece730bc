"""CrowdClassifier: any method of crowdwise behind scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor
from torch.utils.data import Dataset

from crowdwise.aggregate.export import write_frame
from crowdwise.annotations import Annotations
from crowdwise.annotations.align import aligned
from crowdwise.batches import CrowdData
from crowdwise.batches.source import Source
from crowdwise.engine import fit, predict, seeded
from crowdwise.engine.checkpoint import Checkpoints
from crowdwise.engine.config import Config, plain
from crowdwise.engine.perfect import Perfect
from crowdwise.engine.saving import write_run
from crowdwise.errors import InputError
from crowdwise.estimator.building import UserNet, build
from crowdwise.estimator.inputs import as_annotations, as_source, gold_codes
from crowdwise.estimator.stock import as_kind, as_numpy, take_stock
from crowdwise.methods.base import Method
from crowdwise.methods.defaults import defaults
from crowdwise.report.html import write_report
from crowdwise.results.run import Run

if TYPE_CHECKING:
    from lightning_fabric import Fabric

_NAMED = ("method", "net", "epochs", "seed")  # arguments that are no options of the method
OWN_NET = "your own module"  # in config.json, where the net was the user's
Record = dict[str, Any]
Rows: TypeAlias = ArrayLike | Source | Dataset[Any]


class Start(NamedTuple):
    """A training about to begin: everything is read and nothing is left to refuse."""

    data: CrowdData
    model: Method
    stream: Tensor  # torch's random state once the model is made
    gold: NDArray[np.int64] | None  # (N,) classes known for certain, -1 elsewhere

    @property
    def method(self) -> Method:
        """What is trained: the model, with what is known for certain beside the crowd."""
        if self.gold is None:
            return self.model
        return Perfect(self.model, torch.as_tensor(self.gold))


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
        >>> clf = CrowdClassifier(method="crowd-layer", net="linear", epochs=200).fit(X, said)
        >>> clf.predict(np.eye(2, dtype="float32")).tolist()
        [0, 1]
    """

    def __init__(
        self,
        method: str = "ccc",
        net: UserNet = "auto",
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
        X: Rows,
        annotations: Any,
        items: Sequence[Any] | None = None,
        on_epoch: Callable[[Record], None] | None = None,
        gold: Any = None,
    ) -> CrowdClassifier:
        """Train on the crowd's labels.

        Args:
            X: (N, …) features or images, or a torch data set of them, which is streamed; row i
                describes `annotations.item_ids[i]`, or items[i].
            annotations: `Annotations`, a data frame of item, annotator, label, or a matrix of
                items × annotators with -1 or NaN where nothing was said.
            items: the ids that the rows of X describe; items nobody labelled get predictions.
            on_epoch: called with every epoch's record.
            gold: answers that are certain, as a mapping from item to class: labels of a perfect
                annotator, whom training and consensus trust and who is nobody in the crowd.
        """
        return self._train(self._prepare(X, annotations, items, gold), on_epoch)

    def _prepare(
        self, X: Rows, annotations: Any, items: Sequence[Any] | None, gold: Any = None
    ) -> Start:
        """Put rows and labels together, settle every option, make the model."""
        x = as_source(X)
        data = CrowdData(x, aligned(as_annotations(annotations), len(x), items))
        certain = None if gold is None else gold_codes(data.annotations, gold)
        self.shape_ = data.shape
        self.classes_ = data.annotations.classes
        self.settings_ = self._settings(data)
        with seeded(self.seed):
            return Start(data, self._build(self.net), torch.get_rng_state(), certain)

    def _train(
        self,
        start: Start,
        on_epoch: Callable[[Record], None] | None = None,
        checkpoints: Checkpoints | None = None,
        fabric: Fabric | None = None,
    ) -> CrowdClassifier:
        """Train, then take stock of items and annotators."""
        with seeded(self.seed):
            torch.set_rng_state(start.stream)
            data, splits = start.data, {}
            if start.gold is not None and start.model.confusions() is None:
                data = data.leave_out(start.gold >= 0)  # votes that nothing else would correct
            if self.settings_.get("selection") == "validation":  # without truth: held-out labels
                data, splits["validation"] = data.hold_out(seed=self.seed)
            self.history_ = fit(start.method, data, splits, on_epoch, fabric, checkpoints)
        self.model_ = start.model
        crowd = start.data.annotations
        proba = predict(self.model_, start.data.source).double().numpy()
        stock = take_stock(self.model_, crowd, proba, start.gold)
        self._keep(stock.frames, stock.confusions, crowd.frame_kind)
        return self

    def predict_proba(self, X: Rows) -> NDArray[np.float64]:
        """Class probabilities, (N, C) along `classes_`."""
        if not hasattr(self, "model_"):
            raise NotFittedError("this CrowdClassifier is not fitted yet; call fit first")
        source = as_source(X)
        if source.item_shape != self.shape_.input:
            raise InputError(
                f"rows of X have shape {source.item_shape}, those of the training had "
                f"{self.shape_.input}; give the same features"
            )
        if len(source) == 0:
            return np.zeros((0, len(self.classes_)))
        if (bad := source.not_finite()) is not None:
            raise InputError(f"row {bad} of X holds NaN or infinity; fill it in or drop it")
        return predict(self.model_, source).double().numpy()

    def predict(self, X: Rows) -> NDArray[Any]:
        """The most probable class of every row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: Rows, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """How often the prediction is right: of true labels, or of a crowd's.

        Args:
            y: one true label per row, or what `fit` takes as annotations: then the share of the
                crowd's labels that equal the prediction, which a grid search can go by.
        """
        if not isinstance(y, Annotations) and np.ndim(y) < 2:
            return float(super().score(X, y, sample_weight))
        predicted = self.predict(X)
        crowd = aligned(as_annotations(y), len(predicted), None)
        return float(np.mean(predicted[crowd.item] == crowd.classes[crowd.label]))

    def save(self, folder: str | Path) -> Run:
        """Write a run folder that `crowdwise.load` reads, its report among the files."""
        run = Run.create(folder, self._describe())
        for record in self.history_:
            run.log(record)
        self._write(run)
        write_report(run.folder)
        return run

    def _write(self, run: Run) -> Run:
        for name in ("consensus", "annotators"):
            write_frame(self._frames[name], str(run.folder / f"{name}.csv"))
        write_run(run, self.model_.state_dict(), self._frames, self.confusions_)
        return run

    def _describe(self) -> dict[str, Any]:
        """What a run folder's config.json says."""
        return Config(
            self.net if isinstance(self.net, str) else OWN_NET,
            {name: value for name, value in self.get_params().items() if name != "net"},
            self.settings_,
            list(self.shape_.input),
            self.shape_.n_annotators,
            self.classes_.tolist(),
        ).to_json()

    def _settings(self, data: CrowdData) -> dict[str, Any]:
        """Every option of the method: what was given, then what suits the data."""
        heard = len(np.unique(data.annotations.annotator))
        chosen = defaults(self.method, len(data.labelled), heard, self.shape_)
        given = {**self.options, "seed": self.seed}
        if self.epochs is not None:
            given["epochs"] = self.epochs
            if "warmup_epochs" in chosen:
                chosen["warmup_epochs"] = self.epochs // 4
        return plain(chosen | given)

    def _build(self, net: UserNet) -> Method:
        return build(self.method, net, self.shape_, self.settings_)

    def _keep(self, frames: dict[str, pl.DataFrame], confusions: NDArray[Any], kind: str) -> None:
        """Fitted attributes: frames of the kind that the annotations came in."""
        self._frames = frames
        self.consensus_ = as_kind(frames["consensus"], kind)
        self.annotators_ = as_kind(frames["annotators"], kind)
        self.confusions_ = confusions
        groups = self.model_.groups()
        self.groups_ = None if groups is None else as_numpy(groups)
