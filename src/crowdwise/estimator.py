"""CrowdClassifier: any method of crowdwise behind scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor, nn

from crowdwise import methods, nets
from crowdwise.aggregate.export import write_frame
from crowdwise.aggregate.with_classifier import item_table, with_classifier
from crowdwise.annotations import Annotations
from crowdwise.annotations.align import aligned
from crowdwise.batches import CrowdData
from crowdwise.batches.source import TensorSource
from crowdwise.engine import fit, predict, seeded
from crowdwise.engine.config import Config, damaged, plain
from crowdwise.engine.saving import read_run, write_run
from crowdwise.errors import InputError
from crowdwise.methods.base import Method
from crowdwise.methods.defaults import defaults
from crowdwise.report.html_tables import label_table
from crowdwise.results.run import Run

_NAMED = ("method", "net", "epochs", "seed")  # arguments that are no options of the method
OWN_NET = "your own module"  # in config.json, where the net was the user's
Record = dict[str, Any]


class Start(NamedTuple):
    """A training about to begin: everything is read and nothing is left to refuse."""

    data: CrowdData
    model: Method
    stream: Tensor  # torch's random state once the model is made


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

    def _prepare(self, X: ArrayLike, annotations: Any, items: Sequence[Any] | None) -> Start:
        """Put rows and labels together, settle every option, make the model."""
        x = _rows(X)
        data = CrowdData(x, aligned(_as_annotations(annotations), len(x), items))
        self.shape_ = data.shape
        self.classes_ = data.annotations.classes
        self.settings_ = self._settings(data)
        with seeded(self.seed):
            return Start(data, self._build(self.net), torch.get_rng_state())

    def _train(
        self, start: Start, on_epoch: Callable[[Record], None] | None = None
    ) -> CrowdClassifier:
        """Train, then take stock of items and annotators."""
        with seeded(self.seed):
            torch.set_rng_state(start.stream)
            data, splits = start.data, {}
            if self.settings_.get("selection") == "validation":  # without truth: held-out labels
                data, splits["validation"] = start.data.hold_out(seed=self.seed)
            self.history_ = fit(start.model, data, splits, on_epoch)
        self.model_ = start.model
        self._take_stock(start.data)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities, (N, C) along `classes_`."""
        if not hasattr(self, "model_"):
            raise NotFittedError("this CrowdClassifier is not fitted yet; call fit first")
        x = _rows(X)
        if x.shape[1:] != self.shape_.input:
            raise InputError(
                f"rows of X have shape {x.shape[1:]}, those of the training had "
                f"{self.shape_.input}; give the same features"
            )
        if len(x) == 0:
            return np.zeros((0, len(self.classes_)))
        source = TensorSource(x)
        if (bad := source.not_finite()) is not None:
            raise InputError(f"row {bad} of X holds NaN or infinity; fill it in or drop it")
        return predict(self.model_, source).double().numpy()

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of every row."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """How often the prediction is right: of true labels, or of a crowd's.

        Args:
            y: one true label per row, or what `fit` takes as annotations: then the share of the
                crowd's labels that equal the prediction, which a grid search can go by.
        """
        if not isinstance(y, Annotations) and np.ndim(y) < 2:
            return float(super().score(X, y, sample_weight))
        predicted = self.predict(X)
        crowd = aligned(_as_annotations(y), len(predicted), None)
        return float(np.mean(predicted[crowd.item] == crowd.classes[crowd.label]))

    def save(self, folder: str | Path) -> Run:
        """Write a run folder that `crowdwise.load` reads; see the floor plan for its files."""
        run = Run.create(folder, self._describe())
        for record in self.history_:
            run.log(record)
        return self._write(run)

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

    def _build(self, net: str | nn.Module | Callable[[], nn.Module]) -> Method:
        shape = self.shape_

        def make_net() -> nets.Net:
            if isinstance(net, str):
                return nets.make(net, shape.input, shape.n_classes)
            if isinstance(net, nn.Module):  # copied with its weights; only the head starts anew
                copy = nets.with_head(net)
                copy.head.reset_parameters()
            else:
                made = net()
                copy = made if isinstance(made, nets.Net) else nets.with_head(made)
            if copy.head.out_features != shape.n_classes:
                raise InputError(
                    f"the net's last layer has {copy.head.out_features} outputs, the crowd "
                    f"{shape.n_classes} classes; give it one output for each class"
                )
            return copy

        return methods.create(self.method, make_net, shape, self.settings_)

    def _take_stock(self, data: CrowdData) -> None:
        """Consensus, annotators, confusions and groups, as people read them."""
        proba = predict(self.model_, data.source).double().numpy()
        together = with_classifier(data.annotations, proba)
        confusions, groups = self.model_.confusions(), self.model_.groups()
        annotators = together.annotators
        if groups is not None:
            annotators = annotators.with_columns(pl.Series("group", _numpy(groups)))
        frames = {
            "consensus": item_table(together, data.annotations, proba),
            "annotators": annotators,
            "labels": label_table(data.annotations),
        }
        known = together.confusions if confusions is None else _numpy(confusions)
        self._keep(frames, np.asarray(known), data.annotations.frame_kind)

    def _keep(self, frames: dict[str, pl.DataFrame], confusions: NDArray[Any], kind: str) -> None:
        """Fitted attributes: frames of the kind that the annotations came in."""
        self._frames = frames
        self.consensus_ = _as_kind(frames["consensus"], kind)
        self.annotators_ = _as_kind(frames["annotators"], kind)
        self.confusions_ = confusions
        groups = self.model_.groups()
        self.groups_ = None if groups is None else _numpy(groups)


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
        raise damaged(folder, f"asks for a model that cannot be built ({error})") from error
    saved.load_into(classifier.model_)
    classifier.model_.eval()
    classifier.history_ = saved.history
    classifier._keep(saved.frames, saved.confusions, "polars")
    return classifier


def _as_annotations(given: Any) -> Annotations:
    if isinstance(given, Annotations):
        return given
    if isinstance(given, np.ndarray | list | tuple):
        return Annotations.from_dense(given)
    return Annotations.from_frame(given)


def _rows(X: ArrayLike) -> NDArray[Any]:
    rows = np.asarray(X)
    if rows.ndim < 2:
        raise InputError(f"X has shape {rows.shape}; give an array with a row for each item")
    return rows


def _as_kind(frame: pl.DataFrame, kind: str) -> Any:
    """A frame of the kind the annotations came in."""
    if kind == "polars":
        return frame
    columns = {column.name: column.to_list() for column in frame}
    return nw.from_dict(columns, backend=kind).to_native()  # type: ignore[arg-type]


def _numpy(tensor: Tensor) -> NDArray[Any]:
    return tensor.cpu().numpy()
