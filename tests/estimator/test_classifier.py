"""CrowdClassifier keeps scikit-learn's promises, and its own: what is saved is what is loaded."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import Dataset

import crowdwise
from crowdwise import Annotations, CrowdClassifier, InputError

RNG = np.random.default_rng(0)
TRUE = np.tile([0, 1, 2], 30)
X = (np.eye(3)[TRUE] * 4 + RNG.normal(size=(90, 3))).astype(np.float32)
DENSE = np.where(RNG.random((90, 5)) < 0.8, TRUE[:, None], RNG.integers(0, 3, (90, 5)))
DENSE[RNG.random((90, 5)) < 0.4] = -1
DENSE[:, 0] = TRUE
DENSE[:3] = -1  # nobody labelled these


def triples(names: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    item, annotator = np.nonzero(DENSE >= 0)
    return item, np.array([f"r{r}" for r in annotator]), np.array(names)[DENSE[item, annotator]]


def small(**options: object) -> CrowdClassifier:
    return CrowdClassifier(**{"net": "linear", "epochs": 4, "lr": 0.05, **options})


@pytest.fixture(scope="module")
def fitted() -> CrowdClassifier:
    return small().fit(X, DENSE)


def test_selection_by_validation_scores_held_out_labels() -> None:
    last = CrowdClassifier("crowd-layer", "linear", epochs=6).fit(X, DENSE)
    picked = CrowdClassifier("crowd-layer", "linear", epochs=6, selection="validation")
    picked.fit(X, DENSE)
    assert "validation" not in last.history_[0]
    assert all(0 <= record["validation"] <= 1 for record in picked.history_)
    assert len(picked.consensus_) == len(X)


def test_init_only_stores_and_params_come_back() -> None:
    options = {"n_groups": 2, "lr": "checked when fitted", "unheard_of": 1}
    classifier = CrowdClassifier("conal", net="mlp", epochs=3, seed=5, **options)
    named = {"method": "conal", "net": "mlp", "epochs": 3, "seed": 5}
    assert vars(classifier) == {**named, "options": options}
    assert classifier.get_params() == {**named, **options}
    assert classifier.set_params(seed=6, n_groups=3) is classifier
    assert (classifier.seed, classifier.options["n_groups"]) == (6, 3)


def test_clone_has_the_same_params_and_nothing_fitted(fitted: CrowdClassifier) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")
    copy.set_params(lr=9.0)
    assert fitted.options["lr"] == 0.05
    assert "lr=0.05" in repr(fitted)
    assert "CrowdClassifier" in fitted._repr_html_()


def test_the_crowd_teaches(fitted: CrowdClassifier) -> None:
    assert fitted.score(X, TRUE) > 0.85
    proba = fitted.predict_proba(X)
    assert (proba.shape, proba.dtype) == ((90, 3), np.float64)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[proba.argmax(axis=1)])
    assert fitted.predict_proba(X[:0]).shape == (0, 3)
    assert len(fitted.history_) == 4


def test_items_nobody_labelled_get_the_classifiers_word(fitted: CrowdClassifier) -> None:
    consensus = fitted.consensus_
    about = ["item", "label", "probability", "votes", "agreement"]
    about += ["classifier", "classifier_probability", "crowd", "decided_by"]
    assert consensus.columns == [*about, "p_0", "p_1", "p_2"]
    assert consensus["item"].to_list() == list(range(90))
    np.testing.assert_allclose(consensus[:3, 9:].to_numpy(), fitted.predict_proba(X[:3]), atol=1e-5)
    assert consensus[:3, "label"].to_list() == fitted.predict(X[:3]).tolist()
    assert consensus[:3].select("votes", "agreement").rows() == [(0, None)] * 3
    assert (consensus["label"].to_numpy() == TRUE).mean() > 0.9


def test_votes_and_the_classifiers_own_word_stand_beside_the_consensus(
    fitted: CrowdClassifier,
) -> None:
    consensus = fitted.consensus_
    assert consensus["votes"].to_list() == (DENSE >= 0).sum(axis=1).tolist()
    agreeing = (consensus["label"].to_numpy()[:, None] == DENSE).sum(axis=1)
    wanted = agreeing[3:] / consensus["votes"].to_numpy()[3:]
    np.testing.assert_allclose(consensus["agreement"][3:].to_numpy(), wanted)
    assert consensus["classifier"].to_list() == fitted.predict(X).tolist()
    sure = fitted.predict_proba(X).max(axis=1)
    np.testing.assert_allclose(consensus["classifier_probability"], sure, atol=1e-6)


def test_who_decided_is_said_of_every_item(fitted: CrowdClassifier) -> None:
    for row in fitted.consensus_.iter_rows(named=True):
        words = {"classifier": row["classifier"], "crowd": row["crowd"]}
        agreeing = [who for who, word in words.items() if word == row["label"]]
        expected = {2: "agreement", 1: agreeing[0] if agreeing else "", 0: "both"}[len(agreeing)]
        assert row["decided_by"] == expected
    assert fitted.consensus_["crowd"].null_count() == 3
    assert set(fitted.consensus_["decided_by"]) >= {"agreement", "classifier"}


def test_annotators_have_an_interval_and_a_verdict(fitted: CrowdClassifier) -> None:
    frame = fitted.annotators_
    assert frame.columns[:3] == ["annotator", "labels", "accuracy"]
    for name in ("bias", "cost", "leans_to", "suspected_spammer", "reason", "group"):
        assert name in frame.columns
    assert (frame["accuracy_low"] < frame["accuracy"]).all()
    assert (frame["accuracy"] < frame["accuracy_high"]).all()
    assert frame["accuracy"].arg_max() == 0  # who was always right


@pytest.mark.parametrize(("method", "gain"), [("ccc", 0.2), ("major-vote", 0.05)])
def test_gold_is_trusted_in_training_and_in_the_consensus(method: str, gain: float) -> None:
    """Everyone errs in the same way; a few certain answers set it right, and nobody is named."""
    fooled = np.where(TRUE[:, None] == 2, 1, np.tile(TRUE[:, None], 4))
    fooled[np.random.default_rng(1).random(fooled.shape) < 0.3] = -1
    fooled[0, 0] = 2  # so that the class is known
    gold = {int(i): int(TRUE[i]) for i in range(3, 60)}
    rest = np.arange(60, 90)
    options = {"method": method, "epochs": 30, "batch_size": 32}
    without = small(**options).fit(X, fooled)
    trusting = small(**options).fit(X, fooled, gold=gold)
    assert without.score(X[rest], TRUE[rest]) < 0.75
    assert trusting.score(X[rest], TRUE[rest]) > without.score(X[rest], TRUE[rest]) + gain
    consensus = trusting.consensus_
    known = consensus.filter(pl.col("item").is_in(list(gold)))
    assert known["label"].to_list() == [gold[i] for i in known["item"]]
    assert known["probability"].min() == 1.0
    assert set(known["decided_by"]) == {"gold"}
    assert "gold" not in set(consensus["decided_by"].to_list()[60:])
    assert trusting.annotators_["annotator"].to_list() == [0, 1, 2, 3]
    assert trusting.confusions_.shape == (4, 3, 3)
    again = small(**options).fit(X, fooled, gold=gold)
    assert again.predict_proba(X).tobytes() == trusting.predict_proba(X).tobytes()


def test_gold_of_items_nobody_labelled_teaches_too() -> None:
    empty = DENSE.copy()
    empty[45:] = -1
    labels_of_one_class = np.where(empty >= 0, 0, -1)
    labels_of_one_class[3, 0] = 1
    labels_of_one_class[4, 0] = 2
    gold = dict(enumerate(TRUE[45:].tolist(), start=45))
    taught = small(method="crowd-layer", epochs=40, batch_size=16).fit(
        X, labels_of_one_class, gold=gold
    )
    assert taught.score(X[45:], TRUE[45:]) > 0.85


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ({0: 7, 1: 1}, "class that the crowd never gave"),
        ({}, "no answer at all"),
        ([0, 1], "shape"),
    ],
)
def test_gold_that_cannot_be_is_said_in_a_sentence(gold: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        small().fit(X, DENSE, gold=gold)


def test_a_torch_data_set_streams_to_the_same_bytes() -> None:
    class Rows(Dataset):
        def __len__(self) -> int:
            return len(X)

        def __getitem__(self, index: int) -> torch.Tensor:
            return torch.from_numpy(X[index])

    streamed = small(method="crowd-layer").fit(Rows(), DENSE)
    kept = small(method="crowd-layer").fit(X, DENSE)
    assert streamed.predict_proba(Rows()).tobytes() == kept.predict_proba(X).tobytes()


def test_annotators_confusions_and_groups_go_along_the_annotators(fitted: CrowdClassifier) -> None:
    assert fitted.annotators_["annotator"].to_list() == list(range(5))
    assert fitted.annotators_["labels"].to_list() == (DENSE >= 0).sum(axis=0).tolist()
    np.testing.assert_allclose(fitted.confusions_.sum(axis=2), 1, atol=1e-5)
    assert fitted.annotators_["group"].to_list() == fitted.groups_.tolist()
    without = small(method="major-vote").fit(X, DENSE)
    assert without.confusions_.shape == (5, 3, 3)  # the consensus' own
    assert without.groups_ is None


def test_a_score_by_the_crowds_labels(fitted: CrowdClassifier) -> None:
    said = DENSE >= 0
    expected = (fitted.predict(X)[:, None] == DENSE)[said].mean()
    assert fitted.score(X, DENSE) == pytest.approx(expected)
    crowd = Annotations.from_dense(DENSE)
    assert fitted.score(X, crowd) == pytest.approx(expected)
    assert fitted.score(X[3:], crowd.to_frame()) == pytest.approx(expected)


def test_grid_search_over_an_option_with_a_matrix_for_y() -> None:
    search = GridSearchCV(small(method="crowd-layer"), {"lr": [1e-9, 0.05]}, cv=3, refit=True)
    search.fit(X, DENSE)
    assert search.best_params_ == {"lr": 0.05}
    assert search.cv_results_["mean_test_score"].shape == (2,)
    assert search.best_estimator_.score(X, TRUE) > 0.85


def test_a_pipeline_passes_the_crowd_through() -> None:
    crowd = Annotations.from_dense(DENSE)
    pipeline = make_pipeline(StandardScaler(), small(epochs=15))
    by_matrix = pipeline.fit(X * 1000, DENSE).predict_proba(X * 1000)
    by_table = clone(pipeline).fit(X * 1000, crowd).predict_proba(X * 1000)
    np.testing.assert_array_equal(by_matrix, by_table)
    assert pipeline.score(X * 1000, TRUE) > 0.85
    order = np.arange(90)[::-1]
    clone(pipeline).fit(X[order], crowd, crowdclassifier__items=order)


def test_nothing_is_predicted_before_fit() -> None:
    for call in (CrowdClassifier().predict, CrowdClassifier().predict_proba):
        with pytest.raises(NotFittedError, match="call fit first"):
            call(X)


def test_a_fit_that_fails_leaves_nothing_to_predict_with(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    classifier = small()
    with monkeypatch.context() as patched:
        patched.setattr("crowdwise.estimator.classifier.fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            classifier.fit(X, DENSE)
    with pytest.raises(NotFittedError):
        classifier.predict(X)


@pytest.mark.parametrize("names", [["no", "oh", "yes"], [10, -3, 7], ["0", "1", "2"]])
def test_classes_of_any_kind(names: list) -> None:
    item, annotator, label = triples(names)
    crowd = Annotations.from_triples(item, annotator, label)
    classifier = small(method="crowd-layer").fit(X, crowd, items=range(90))
    assert classifier.classes_.tolist() == sorted(names)
    assert classifier.score(X, np.array(names)[TRUE]) > 0.85
    assert {f"p_{name}" for name in names} < set(classifier.consensus_.columns)


def test_classes_may_be_booleans(tmp_path: Path) -> None:
    item, annotator, label = triples([False, True, True])
    crowd = Annotations.from_triples(item, annotator, label)
    classifier = small(method="crowd-layer", epochs=15).fit(X, crowd, items=range(90))
    classifier.save(tmp_path / "run")
    for one in (classifier, crowdwise.load(tmp_path / "run")):
        assert one.predict(X).dtype == bool
        assert one.score(X, TRUE > 0) > 0.85


def test_frames_come_back_in_the_kind_that_went_in() -> None:
    item, annotator, label = triples(["a", "b", "c"])
    frame = pd.DataFrame({"task": item, "worker": annotator, "label": label})
    classifier = small(method="crowd-layer").fit(X[3:], frame)
    assert isinstance(classifier.consensus_, pd.DataFrame)
    assert isinstance(classifier.annotators_, pd.DataFrame)
    assert classifier.consensus_["item"].tolist() == list(range(3, 90))
    assert classifier.annotators_["accuracy"].dtype == float
    polars = small(method="crowd-layer").fit(X[3:], pl.from_pandas(frame))
    assert isinstance(polars.consensus_, pl.DataFrame)
    assert polars.consensus_["p_a"].to_list() == classifier.consensus_["p_a"].tolist()
    as_table = small(method="crowd-layer").fit(X[3:], pl.from_pandas(frame).to_arrow())
    assert type(as_table.consensus_).__name__ == "Table"


def test_rows_in_another_order_find_their_items() -> None:
    """Which row comes first decides the draws, so rows are shuffled and names follow them."""
    item, annotator, label = triples(["a", "b", "c"])
    names = np.array([f"i{i:02}" for i in range(90)])
    crowd = Annotations.from_triples(names[item], annotator, label)
    straight = small().fit(X, crowd, items=names)
    renamed = Annotations.from_triples(names[::-1][item], annotator, label)
    again = small().fit(X, renamed, items=names[::-1])
    np.testing.assert_array_equal(straight.predict_proba(X), again.predict_proba(X))
    shuffled = RNG.permutation(90)
    other = small(epochs=30).fit(X[shuffled], crowd, items=names[shuffled])
    assert other.score(X, np.array(["a", "b", "c"])[TRUE]) > 0.85
    by_name = dict(zip(names, np.array(["a", "b", "c"])[TRUE], strict=True))
    right = [by_name[i] == y for i, y in other.consensus_.select("item", "label").rows()]
    assert np.mean(right) > 0.9


def test_same_seed_same_bytes_and_the_callers_draws_stay() -> None:
    torch.manual_seed(1)
    wanted = torch.rand(3)
    torch.manual_seed(1)
    first, second = small(seed=3).fit(X, DENSE), small(seed=3).fit(X, DENSE)
    assert torch.equal(torch.rand(3), wanted)
    assert first.predict_proba(X).tobytes() == second.predict_proba(X).tobytes()
    assert (
        first.predict_proba(X).tobytes() != small(seed=4).fit(X, DENSE).predict_proba(X).tobytes()
    )


@pytest.mark.parametrize("method", ["ccc", "major-vote", "doctor-net"])
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, method: str) -> None:
    classifier = small(method=method, batch_size=np.int64(32)).fit(X, DENSE)
    classifier.save(tmp_path / "run")
    loaded = crowdwise.load(tmp_path / "run")
    assert loaded.predict_proba(X).tobytes() == classifier.predict_proba(X).tobytes()
    assert loaded.get_params() == classifier.get_params()
    assert loaded.history_ == classifier.history_
    assert loaded.consensus_.equals(classifier.consensus_)
    assert loaded.annotators_.equals(classifier.annotators_)
    np.testing.assert_array_equal(loaded.confusions_, classifier.confusions_)
    assert loaded.classes_.tolist() == [0, 1, 2]
    assert (loaded.groups_ is None) == (method != "ccc")
    loaded.save(tmp_path / "again")
    for name in ("model.safetensors", "config.json", "metrics.jsonl", "labels.parquet"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "run" / name).read_bytes()


def test_a_pickle_predicts_the_same(fitted: CrowdClassifier) -> None:
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()


def test_a_save_is_whole_or_no_run(
    tmp_path: Path, fitted: CrowdClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("crowdwise.engine.saving.save_file", full_disk)
        with pytest.raises(InputError, match="No space left"):
            fitted.save(folder)
    with pytest.raises(InputError, match="not finished"):
        crowdwise.load(folder)
    fitted.save(folder)
    assert crowdwise.load(folder).predict(X).tolist() == fitted.predict(X).tolist()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match="holds a finished run"):
        fitted.save(folder)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(before) == [
        *("annotators.csv", "annotators.parquet", "config.json", "consensus.csv"),
        *("consensus.parquet", "done", "labels.parquet", "metrics.jsonl"),
        *("model.safetensors", "report.html", "times.jsonl"),
    ]
    assert json.loads(before["config.json"])["settings"]["epochs"] == 4


class Own(nn.Module):
    """A user's network, its batch norm included."""

    def __init__(self, n_classes: int = 3) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.last = nn.Linear(16, n_classes)

    def forward(self, x):
        return self.last(self.body(x))


@pytest.mark.parametrize("net", [Own(), Own], ids=["instance", "factory"])
def test_a_net_of_ones_own(tmp_path: Path, net: object) -> None:
    classifier = small(net=net, lr=0.01, epochs=40, batch_size=86)  # a last batch of one item
    classifier.fit(X, DENSE)
    assert classifier.score(X, TRUE) > 0.85
    assert clone(classifier).fit(X, DENSE).score(X, TRUE) > 0.85
    classifier.save(tmp_path / "run")
    with pytest.raises(InputError, match="a net of your own; give it as net="):
        crowdwise.load(tmp_path / "run")
    loaded = crowdwise.load(tmp_path / "run", net=net)
    assert loaded.predict_proba(X).tobytes() == classifier.predict_proba(X).tobytes()
    with pytest.raises(InputError, match="this is not its net"):
        crowdwise.load(tmp_path / "run", net=nn.Linear(3, 3))


def test_an_instance_is_where_every_model_starts_and_stays_as_it_is() -> None:
    net = Own()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    classifier = small(net=net, epochs=1, lr=1e-9).fit(X, DENSE)
    for name, value in net.state_dict().items():
        assert bool((value == before[name]).all())
    starts = [p for n, p in classifier.model_.named_parameters() if n.endswith("body.0.weight")]
    assert len(starts) == 2
    for start in starts:
        assert bool((start - before["body.0.weight"]).abs().max() < 1e-5)
    heads = [p for n, p in classifier.model_.named_parameters() if n.endswith("head.weight")]
    assert bool((heads[0] != heads[1]).any())


@pytest.mark.parametrize(
    ("options", "fed", "said"),
    [
        ({"colour": 1}, {}, "no option 'colour'"),
        ({"method": "magic"}, {}, "no method 'magic'"),
        ({"net": "magic"}, {}, "no net is named 'magic'"),
        ({"net": Own(4)}, {}, "4 outputs, the crowd 3 classes"),
        ({"net": nn.ReLU()}, {}, "no nn.Linear"),
        ({"epochs": 0}, {}, "epochs"),
        ({"method": "true-labels"}, {}, "exactly one annotator"),
        ({}, {"X": X[:50]}, "50 rows of features and 90 items"),
        ({}, {"X": X[:, 0]}, "a row for each item"),
        ({}, {"X": np.where(np.arange(90)[:, None] == 7, np.nan, X)}, "item 7: its features"),
        ({}, {"X": X.astype(str)}, "array of numbers"),
        ({}, {"items": range(1, 91)}, "no row of features"),
        ({}, {"annotations": DENSE * 0 - 1}, "no label at all"),
        ({}, {"annotations": "labels.csv"}, "no data frame"),
    ],
)
def test_what_cannot_be_fitted_is_said_in_a_sentence(options: dict, fed: dict, said: str) -> None:
    crowd = Annotations.from_dense(np.where(DENSE == -1, TRUE[:, None], DENSE))
    with pytest.raises(InputError, match=said):
        small(**options).fit(**{"X": X, "annotations": crowd, **fed})


def test_what_cannot_be_predicted_is_said_in_a_sentence(fitted: CrowdClassifier) -> None:
    with pytest.raises(InputError, match=r"shape \(2,\), those of the training had \(3,\)"):
        fitted.predict(X[:, :2])
    with pytest.raises(InputError, match="a row for each item"):
        fitted.predict(X[0])
    broken = X.copy()
    broken[4, 1] = np.inf
    with pytest.raises(InputError, match="row 4 of X holds NaN or infinity"):
        fitted.predict(broken)


def test_images_take_a_cnn() -> None:
    images = np.zeros((90, 1, 8, 8), dtype=np.uint8)
    images[np.arange(90), 0, TRUE * 3] = 1
    classifier = CrowdClassifier("crowd-layer", epochs=8, lr=0.01).fit(images, DENSE)
    assert classifier.score(images, TRUE) > 0.85


def test_what_the_docs_page_shows_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parent.parent.parent / "docs" / "estimator.md"
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    names: dict = {}
    exec("\n".join(blocks), names)
    assert len(blocks) == 4
    assert names["model"].score(names["X"], names["true"]) > 0.85
    for name in ("consensus_", "annotators_", "confusions_", "groups_", "history_", "settings_"):
        assert hasattr(names["again"], name)
