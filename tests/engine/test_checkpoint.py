"""Checkpoints: from every batch on, the bytes of a training that was never interrupted."""

import json
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save

from crowdwise import methods
from crowdwise.engine import fit, seeded
from crowdwise.engine.checkpoint import Checkpoints
from crowdwise.engine.evaluate import Split
from crowdwise.errors import InputError
from crowdwise.methods.base import Method
from tests.engine import small
from tests.methods.toys import build, data_for, features

EVERY_BATCH = {"minutes": 0}


class Killed(BaseException):
    """As a kill would, it passes every handler."""


def bytes_of(method: Method, history: list) -> tuple[bytes, str]:
    plain = [{k: v for k, v in record.items() if k != "seconds"} for record in history]
    return save(method.state_dict()), json.dumps(plain)


class KilledAfter(Checkpoints):
    """Keeps every batch, and dies after the given one."""

    def __init__(self, folder: Path, batches: int) -> None:
        super().__init__(folder, **EVERY_BATCH)
        self.left = batches

    def keep(self, method, state) -> None:
        super().keep(method, state)
        self.left -= 1
        if self.left == 0:
            raise Killed


@pytest.mark.parametrize("n_models", [1, 2])
@pytest.mark.parametrize("name", methods.names())
def test_from_every_batch_on_the_same_bytes_follow(name, n_models, tmp_path):
    data = data_for(name)
    options = {"selection": "validation", "epochs": 3, "batch_size": 24}
    if name == "ccc":
        options["warmup_epochs"] = 1
    splits = {"validation": Split.of(features(), np.arange(len(data)) % 2)}

    def train(checkpoints=None, noise=0):
        with seeded(4):
            method = build(name, data.shape, norm=True, n_models=n_models, **options)
            torch.rand(noise)  # a resumed process comes with another random state
            return method, fit(method, data, splits, checkpoints=checkpoints)

    wanted = bytes_of(*train())
    for batches in range(1, 100):
        folder = tmp_path / str(batches)
        try:
            train(KilledAfter(folder, batches))
            break
        except Killed:
            pass
        assert bytes_of(*train(Checkpoints(folder), noise=batches)) == wanted, batches
    assert batches > 9


def test_epochs_between_checkpoints(tmp_path):
    kept = []

    class Counting(Checkpoints):
        def keep(self, method, state):
            kept.append((state.epoch, state.batch))
            super().keep(method, state)

    with seeded(0):
        fit(small.method(epochs=5), small.data(), checkpoints=Counting(tmp_path, epochs=2))
    assert kept == [(2, 0), (4, 0)]


def test_past_records_are_told_again(tmp_path):
    for told in ([], []):
        with seeded(0):
            method = small.method(epochs=2)
            fit(method, small.data(), on_epoch=told.append, checkpoints=Checkpoints(tmp_path, 0))
        assert [record["epoch"] for record in told] == [1, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lr": 0.5}, "begun with lr=0.01, not 0.5"),
        ({"epochs": 4}, "begun with epochs=3, not 4"),
        ({"name": "conal"}, "begun with method=CrowdLayer, not CoNAL"),
        ({"net": "linear"}, "is no checkpoint of this training"),
    ],
)
def test_another_training_is_refused(tmp_path, change, said):
    with seeded(0):
        fit(small.method(), small.data(), checkpoints=Checkpoints(tmp_path, 0))
        other = small.method(**change)
        with pytest.raises(InputError, match=said):
            fit(other, small.data(), checkpoints=Checkpoints(tmp_path))


def test_other_labels_or_features_are_refused(tmp_path):
    x, y = small.inputs()
    with seeded(0):
        fit(small.method(), small.data(), checkpoints=Checkpoints(tmp_path, 0))
        for data in (
            small.CrowdData(x, small.crowd(y, seed=1)),
            small.CrowdData(x + 1, small.crowd(y)),
        ):
            with pytest.raises(InputError, match="other labels or other features"):
                fit(small.method(), data, checkpoints=Checkpoints(tmp_path))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    with seeded(0), pytest.raises(Killed):
        fit(small.method("ccc"), small.data(), checkpoints=KilledAfter(folder, 9))
    return folder


def go_on(folder: Path) -> None:
    with seeded(0):
        fit(small.method("ccc"), small.data(), checkpoints=Checkpoints(folder))


def said_in(folder: Path) -> dict:
    with (folder / "state.safetensors").open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return json.loads(header["__metadata__"]["state"])


def rewrite(folder: Path, tensors: dict, said: dict) -> None:
    text = {"state": json.dumps(said)}
    (folder / "state.safetensors").write_bytes(save(tensors, metadata=text))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.999])
def test_a_cut_file_ends_in_one_sentence(kept, tmp_path, share):
    folder = copytree(kept, tmp_path / "c")
    data = (folder / "state.safetensors").read_bytes()
    (folder / "state.safetensors").write_bytes(data[: int(share * len(data))])
    with pytest.raises(InputError, match="remove it to start anew"):
        go_on(folder)


NAMES = ["method/peers.0.T", "memory/0.item", "random/cpu", "optimizer/0/0/exp_avg", "order"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["missing", "shape", "wild"])
def test_a_tensor_that_is_missing_misshapen_or_wild(kept, tmp_path, name, how):
    folder = copytree(kept, tmp_path / "c")
    tensors, said = load_file(folder / "state.safetensors"), said_in(folder)
    rewrite(folder, tensors, said)
    go_on(folder)  # as it was
    value = tensors.pop(name)
    if how == "shape":
        tensors[name] = value[None].repeat(2, *[1] * value.ndim)
    elif how == "wild":
        tensors[name] = torch.full_like(value, 10**15 if value.dtype == torch.int64 else 200)
    rewrite(folder, tensors, said)
    if (name, how) in {("optimizer/0/0/exp_avg", "wild"), ("method/peers.0.T", "wild")}:
        go_on(folder)  # numbers are numbers
        return
    with pytest.raises(InputError) as raised:
        go_on(folder)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "change",
    [
        *({name: None} for name in ("epoch", "batch", "history", "losses", "optimizers")),
        *({"epoch": value} for value in (-1, "1", 2.0, True, 10**30)),
        *({"batch": value} for value in (-1, 10**30)),
        *({"history": value} for value in ({}, [1], [{}], [{"epoch": "x"}] * 2)),
        *({"losses": value} for value in ([], {"loss": "x"})),
        *({"optimizers": value} for value in ([], {"optimizer/0/0/step": []})),
        *({"training": value} for value in (None, [], {}, {"options": 3})),
    ],
)
def test_a_header_that_says_something_else(kept, tmp_path, change):
    folder = copytree(kept, tmp_path / "c")
    said = {k: v for k, v in (said_in(folder) | change).items() if v is not None}
    rewrite(folder, load_file(folder / "state.safetensors"), said)
    with pytest.raises(InputError) as raised:
        go_on(folder)
    assert "\n" not in str(raised.value)


def test_a_link_is_read_but_never_written_through(kept, tmp_path):
    target = tmp_path / "precious"
    target.write_bytes((kept / "state.safetensors").read_bytes())
    before = target.read_bytes()
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "state.safetensors").symlink_to(target)
    with seeded(0):
        fit(small.method("ccc"), small.data(), checkpoints=Checkpoints(folder, 0))
    assert target.read_bytes() == before
    assert not (folder / "state.safetensors").is_symlink()
