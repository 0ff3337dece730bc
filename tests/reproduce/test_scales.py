"""The paper's settings as its appendix has them, rehearsed on their own nets; the smaller ones."""

import numpy as np
import pytest

from crowdwise import datasets
from crowdwise.annotations import Annotations
from crowdwise.datasets import Dataset
from crowdwise.errors import InputError
from crowdwise.reproduce import cells, suites
from crowdwise.reproduce.cells import Cell, run_cell
from crowdwise.reproduce.settings import SETTINGS, SMALLER, setting

SHAPES = {"cifar10": (3, 32, 32), "cifar10n": (3, 32, 32), "fashion-mnist": (1, 28, 28)}
CROWDS = {"cifar10": {"case": "COR-II"}, "cifar10n": {}, "fashion-mnist": {"case": "IND-I"}}


@pytest.fixture
def noise_pictures(monkeypatch):
    """Data sets of the right shapes, of noise; CIFAR-10N with a crowd of its own."""

    def load(name):
        random = np.random.default_rng(0)
        x = random.random((40, *SHAPES[name]), dtype=np.float32)
        y = np.arange(40) % 10
        crowd = None
        if name == "cifar10n":
            said = random.integers(0, 10, 120)
            rows, who = np.repeat(np.arange(40), 3), random.integers(0, 747, 120)
            codes = (values.astype(np.int32) for values in (rows, who, said))
            crowd = Annotations(*codes, np.arange(40), np.arange(747), np.arange(10))
        return Dataset(name, np.arange(10), x, y, x, y, crowd, x, y)

    monkeypatch.setattr(datasets, "load", load)
    cells._dataset.cache_clear()
    yield
    cells._dataset.cache_clear()


@pytest.mark.filterwarnings("ignore:n_groups is")  # four items have few annotators
@pytest.mark.parametrize(
    ("dataset", "method"),
    [
        *(("fashion-mnist", method) for method in (*suites.METHODS, suites.UPPER_BOUND)),
        ("cifar10", "ccc"),
        ("cifar10n", "ccc"),
    ],
)
def test_the_papers_cell_trains_its_resnet_before_and_after_the_warm_up(
    noise_pictures, dataset, method
):
    small = {"batch_size": 4} if method == "ccc" else {"batch_size": 4, "n_models": 1}
    line = run_cell(Cell(dataset, method, 0, small, crowd=CROWDS[dataset]), steps=1)
    assert len(line["curve"]) == 2
    assert line["resolved"]["net"] == ("resnet18" if dataset == "fashion-mnist" else "resnet34")
    assert line["resolved"]["items"] == 4


def test_the_appendix_is_followed():
    """B.S., optimiser, I.L.R., epochs, M, G: the columns of the paper's table of experiments."""
    printed = {
        "cifar10n": ("resnet34", 128, "sgd", 0.01, 60, 10, 1000, 50),
        "cifar10": ("resnet34", 128, "sgd", 0.01, 60, 10, 1000, 30),
        "fashion-mnist": ("resnet18", 128, "sgd", 0.01, 60, 10, 1000, 30),
        "labelme": ("fc128", 128, "adam", 1e-4, 200, 50, 1000, 25),
        "music": ("music", 128, "adam", 1e-2, 200, 50, 160, 20),
    }
    for dataset, numbers in printed.items():
        base = setting(dataset)
        options = {**base.options, **base.ccc}
        names = ("batch_size", "optimizer", "lr", "epochs", "warmup_epochs", "meta_size")
        assert (base.net, *(options[name] for name in names), options["n_groups"]) == numbers
        assert options["correction_rate"] == (0.3 if dataset == "music" else 0.5)
        if dataset in SHAPES:
            assert (options["momentum"], options["weight_decay"]) == (0.9, 5e-4)
            assert (options["schedule"], options["milestones"]) == ("step", (40,))
            assert options["active"] == "head"


def test_a_smaller_setting_says_how_it_is_smaller_and_has_a_key_of_its_own():
    for dataset, smaller in SMALLER.items():
        assert smaller.scale == "cpu"
        assert smaller.note
        assert smaller.paper == SETTINGS[dataset].paper
        cell = Cell(dataset, "ccc", 0, crowd={"case": "IND-I"})
        assert Cell(dataset, "ccc", 0, crowd={"case": "IND-I"}, scale="cpu").key != cell.key


def test_where_a_processor_trains_the_papers_setting_the_scales_are_one():
    paper, cpu = (suites.cells_of("clean", "music", "all", 1, scale) for scale in ("paper", "cpu"))
    assert paper == cpu
    with pytest.raises(InputError, match="there is no scale 'gpu'; choose from paper, cpu"):
        suites.cells_of("clean", "music", "all", 1, "gpu")


def test_fewer_items_are_the_same_for_every_run_and_a_crowd_keeps_its_labels(noise_pictures):
    whole, some = cells._dataset("cifar10n"), cells._dataset("cifar10n", 7, 3)
    assert (len(some.x_train), len(some.x_test), len(some.y_valid)) == (7, 3, 3)
    again = cells._dataset("cifar10n", 7, 3)
    np.testing.assert_array_equal(some.x_train, again.x_train)
    ids = some.annotations.item_ids
    np.testing.assert_array_equal(some.x_train, whole.x_train[ids])
    for place, item in enumerate(ids):
        said = whole.annotations.label[whole.annotations.item == item]
        assert sorted(some.annotations.label[some.annotations.item == place]) == sorted(said)


def test_who_learns_from_the_truth_hears_no_crowd():
    keys = {Cell("digits", "true-labels", 0, crowd={"case": c}).key for c in ("IND-I", "COR-I")}
    assert len(keys) == 1
