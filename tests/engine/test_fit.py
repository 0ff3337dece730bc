"""The loop: which weights are kept, how it ends, and that a seed decides every byte."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from crowdwise import methods
from crowdwise.batches import CrowdData, ImageFolder, StreamSource, TensorSource
from crowdwise.engine import Split, fit, predict, seeded
from crowdwise.engine.evaluate import accuracies, agreement
from crowdwise.errors import InputError
from crowdwise.results import Run
from tests.engine import small


def all_of(label: int) -> CrowdData:
    """Every item is labelled with one class."""
    x, y = small.inputs()
    return CrowdData(x, small.crowd(np.full_like(y, label), wrong=0.0))


def test_the_weights_of_the_best_epoch_are_kept_not_those_that_went_on_changing():
    method = small.Scripted(epochs=5)  # epoch 2 predicts class 2; epoch 5 does again, later
    history = fit(method, small.data(), {"validation": all_of(2)})
    assert [epoch["validation"] for epoch in history] == [0, 1, 0, 0, 1]
    assert method.weight.item() == 2


def test_the_last_weights_are_kept_unless_asked():
    method = small.Scripted(epochs=4, selection="last")
    fit(method, small.data(), {"validation": all_of(2)})
    assert method.weight.item() == 4


def test_selection_works_on_labels_held_out_from_the_crowd():
    train, validation = small.data().hold_out(0.25)
    with seeded(0):
        method = small.method(selection="validation", epochs=6)
        history = fit(method, train, {"validation": validation})
    scores = [epoch["validation"] for epoch in history]
    assert agreement(method, validation) == max(scores)
    assert min(scores) < max(scores)


def test_agreement_counts_labels():
    x, y = small.inputs()
    data = CrowdData(x, small.crowd(y))
    method = small.Scripted(epochs=1)
    method.weight.data.fill_(1)
    assert agreement(method, data) == pytest.approx(np.mean(data.annotations.label == 1))
    half, _ = data.hold_out(0.5)
    assert agreement(method, half) == pytest.approx(np.mean(half.annotations.label == 1))


def test_accuracy_is_of_the_mean_prediction_and_of_each_model():
    x, y = small.inputs()
    split = Split.of(x, y)
    with seeded(0):
        method = small.method("major-vote", n_models=2)
        (record,) = fit(method, small.data(), {"test": split})[-1:]
    together, each = accuracies(method, split)
    assert record["test"] == together == np.mean(predict(method, split.x).argmax(1).numpy() == y)
    assert record["test_each"] == each
    assert len(each) == 2


def test_selection_without_a_validation_split_is_refused_before_training():
    method = small.Scripted(epochs=2)
    with pytest.raises(InputError, match="needs a validation split"):
        fit(method, small.data())
    assert method.weight.item() == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_stops_training_and_says_what_to_try(value):
    method = small.Scripted(epochs=3, selection="last", loss=torch.tensor(value))
    with pytest.raises(
        InputError, match=r"epoch 1, batch 1: the training loss is .*try a lower lr"
    ):
        fit(method, small.data())
    assert not method.training


@pytest.mark.parametrize("name", [name for name in methods.names() if name != "true-labels"])
def test_a_rate_far_too_high_ends_in_one_sentence_or_in_finite_numbers(name):
    with seeded(0):
        method = small.method(name, lr=1e25, epochs=4, optimizer="sgd")
        try:
            history = fit(method, small.data())
        except InputError as error:
            history, said = [], str(error)
            assert "try a lower lr" in said
    assert all(np.isfinite(epoch["loss"]) for epoch in history)


def test_an_interrupt_leaves_a_readable_run_and_a_method_that_predicts(tmp_path):
    run = Run.create(tmp_path / "run", {"method": "scripted"})
    method = small.Scripted(epochs=9, selection="last", stop_at=2)
    with pytest.raises(KeyboardInterrupt):
        fit(method, small.data(), on_epoch=run.log)
    again = Run.open(tmp_path / "run")
    assert [record["epoch"] for record in again.history] == [1, 2]
    assert not again.done
    assert not method.training
    assert len(predict(method, TensorSource(small.inputs()[0]))) == small.N


def test_records_carry_the_rate_of_the_schedule():
    with seeded(0):
        method = small.method(epochs=3, lr=0.1, schedule="step", milestones=(2,))
        history = fit(method, small.data())
    assert [epoch["rate"] for epoch in history] == pytest.approx([0.1, 0.1, 0.01])
    assert [epoch["epoch"] for epoch in history] == [1, 2, 3]


@pytest.mark.parametrize("name", ["crowd-layer", "ccc"])
def test_training_on_a_stream_is_training_on_a_tensor(name):
    x, y = small.inputs()
    rows = torch.utils.data.StackDataset(torch.as_tensor(x))

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return len(rows)

        def __getitem__(self, index):
            return rows[index][0]

    predictions = []
    for source in (x, StreamSource(Rows())):
        with seeded(1):
            method = small.method(name)
            fit(method, CrowdData(source, small.crowd(y)))
        predictions.append(predict(method, TensorSource(x)))
    assert torch.equal(*predictions)


def test_a_folder_of_images_trains(tmp_path):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for i in range(8):
        pixels = rng.integers(0, 100, (16, 16, 3), dtype=np.uint8) + np.uint8(150 * (i % 2))
        image.fromarray(pixels).save(tmp_path / f"{i}.png")
    told = small.Annotations.from_dense((np.arange(8) % 2)[:, None])
    data = CrowdData(StreamSource(ImageFolder(tmp_path, told.item_ids), workers=1), told)
    with seeded(0):
        shape = data.shape
        given = {"epochs": 2, "batch_size": 4}
        method = methods.create(
            "major-vote", lambda: small.nets.make("cnn", shape.input, 2), shape, given
        )
        history = fit(method, data)
    assert np.isfinite([epoch["loss"] for epoch in history]).all()


SCRIPT = """
import hashlib, torch
from safetensors.torch import save
from crowdwise.engine import fit, seeded
from tests.engine import small
torch.set_num_threads(1)
for name in ("ccc", "crowd-layer"):
    for seed in (0, 1):
        with seeded(seed):
            method = small.method(name)
            fit(method, small.data())
        print(name, hashlib.sha256(save(method.state_dict())).hexdigest())
"""


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_in_another_process():
    def weights():
        root = Path(__file__).parent.parent.parent
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=root
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    first = weights()
    assert weights() == first
    assert len(set(first)) == 4
