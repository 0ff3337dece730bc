"""What holds for every registered method, whatever it is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from crowdwise.batches import CrowdData
from crowdwise.methods import create, find, names
from crowdwise.nets import Net
from tests.methods.toys import (
    SETTINGS,
    C,
    D,
    R,
    build,
    crowd,
    data_for,
    features,
    float64,
    train,
)

every_method = pytest.mark.parametrize("name", names())
single_and_pair = pytest.mark.parametrize("n_models", [1, 2])


def assert_sane(method: nn.Module, probabilities: Tensor) -> None:
    for key, value in method.state_dict().items():
        assert value.isfinite().all(), key
    assert probabilities.isfinite().all()
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(probabilities.shape[:-1]))


@every_method
@single_and_pair
def test_every_parameter_moves_within_a_few_steps(name: str, n_models: int) -> None:
    data = data_for(name)
    method = build(name, data.shape, n_models=n_models)
    method.start(data)
    before = {key: value.detach().clone() for key, value in method.named_parameters()}
    train(method, data, epochs=2)
    assert before
    for key, value in method.named_parameters():
        assert not torch.equal(value, before[key]), f"{key} never moved"


@every_method
@single_and_pair
def test_the_optimisers_hold_every_parameter_once(name: str, n_models: int) -> None:
    method = build(name, data_for(name).shape, n_models=n_models)
    held = [p for o in method.optimizers for group in o.param_groups for p in group["params"]]
    assert len(held) == len({id(p) for p in held})
    assert {id(p) for p in held} == {id(p) for p in method.parameters()}


@every_method
def test_losses_are_scalars_without_a_graph(name: str) -> None:
    data = data_for(name)
    for losses in train(build(name, data.shape), data, epochs=2):
        assert losses
        for loss in losses.values():
            assert loss.shape == ()
            assert not loss.requires_grad
            assert loss.isfinite()


@every_method
@single_and_pair
def test_a_batch_of_one(name: str, n_models: int) -> None:
    data = data_for(name)
    method = build(name, data.shape, n_models=n_models)
    train(method, data, epochs=2, batch_size=1)
    x = data.x(torch.arange(3))
    assert_sane(method, method.predict(x[:1]))
    torch.testing.assert_close(method.predict(x[:1]), method.predict(x)[:1])


@every_method
@single_and_pair
@pytest.mark.filterwarnings("ignore:n_groups is")
def test_annotators_without_labels_and_classes_never_given(name: str, n_models: int) -> None:
    silent = () if name == "true-labels" else (0, 3, 4, 6)
    data = data_for(name, silent=silent, unused=(1, 3))
    method = build(name, data.shape, n_models=n_models)
    train(method, data)
    assert_sane(method, method.predict(data.x(torch.arange(5))))


@every_method
def test_items_without_labels_are_legal(name: str) -> None:
    whole = crowd(alone=name == "true-labels")
    keep = whole.item % 4 != 0
    sparse = replace(
        whole, item=whole.item[keep], annotator=whole.annotator[keep], label=whole.label[keep]
    )
    data = CrowdData(features(), sparse)
    method = build(name, data.shape)
    train(method, data)
    assert_sane(method, method.predict(data.x(torch.arange(5))))


@every_method
@single_and_pair
def test_predictions_are_the_mean_of_the_models(name: str, n_models: int) -> None:
    data = data_for(name)
    method = build(name, data.shape, n_models=n_models)
    train(method, data)
    x = data.x(torch.arange(9))
    each = method.predict_each(x)
    assert each.shape == (n_models, 9, C)
    torch.testing.assert_close(method.predict(x), each.mean(dim=0))
    if n_models == 2:
        assert not torch.allclose(each[0], each[1])


@every_method
@single_and_pair
def test_confusions_are_distributions_over_labels(name: str, n_models: int) -> None:
    data = data_for(name)
    method = build(name, data.shape, n_models=n_models)
    train(method, data)
    confusions = method.confusions()
    if confusions is not None:
        assert confusions.shape == (data.shape.n_annotators, C, C)
        assert not confusions.requires_grad
        assert_sane(method, confusions)
    groups = method.groups()
    if groups is not None:
        assert groups.shape == (data.shape.n_annotators,)


@every_method
@single_and_pair
def test_permuting_annotators_permutes_confusions_and_changes_no_prediction(
    name: str, n_models: int
) -> None:
    if name == "true-labels":
        pytest.skip("a crowd of one has nobody to permute")
    # a group for every annotator: k-means itself starts from annotators in their order
    options = {"n_groups": R} if name == "ccc" else {}
    place = np.random.default_rng(3).permutation(R)  # annotator r is called place[r]
    with float64():
        data = CrowdData(features(), plain := crowd())
        renamed = CrowdData(
            features(), replace(plain, annotator=place[plain.annotator].astype(np.int32))
        )
        first = build(name, data.shape, n_models=n_models, **options)
        second = build(name, data.shape, n_models=n_models, **options)
        second.load_state_dict(
            {key: permuted(value, place) for key, value in first.state_dict().items()}
        )
        train(first, data)
        train(second, renamed)
        x = data.x(torch.arange(20))
        torch.testing.assert_close(second.predict(x), first.predict(x), rtol=0, atol=1e-8)
        confusions, theirs = first.confusions(), second.confusions()
        if confusions is not None and theirs is not None:
            torch.testing.assert_close(theirs, permuted(confusions, place), rtol=0, atol=1e-8)


def permuted(value: Tensor, place: np.ndarray) -> Tensor:
    """What belongs to annotators has them along its first axis, in every method."""
    if value.ndim == 0 or len(value) != R:
        return value
    result = torch.empty_like(value)
    result[torch.as_tensor(place)] = value
    return result


@every_method
@single_and_pair
def test_save_and_load_give_the_same_predictions(name: str, n_models: int, tmp_path: Path) -> None:
    data = data_for(name, silent=() if name == "true-labels" else (2,))
    method = build(name, data.shape, seed=1, norm=True, n_models=n_models)
    train(method, data, batch_size=20)
    save_file(method.state_dict(), tmp_path / "model.safetensors")
    again = build(name, data.shape, seed=2, norm=True, n_models=n_models)
    again.load_state_dict(load_file(tmp_path / "model.safetensors"))
    again.eval()
    x = data.x(torch.arange(9))
    assert torch.equal(again.predict(x), method.predict(x))
    confusions, theirs = method.confusions(), again.confusions()
    if confusions is not None and theirs is not None:
        assert torch.equal(theirs, confusions)


@every_method
@single_and_pair
def test_same_seed_same_bytes(name: str, n_models: int) -> None:
    data = data_for(name)

    def trained(seed: int) -> dict[str, Tensor]:
        method = build(name, data.shape, seed=seed, n_models=n_models)
        train(method, data, seed=seed)
        return method.state_dict()

    first, second, other = trained(5), trained(5), trained(6)
    assert {key: value.numpy().tobytes() for key, value in first.items()} == {
        key: value.numpy().tobytes() for key, value in second.items()
    }
    assert any(not torch.equal(first[key], other[key]) for key in first)


@every_method
@single_and_pair
def test_an_update_moves_batch_norm_once_and_a_prediction_never(name: str, n_models: int) -> None:
    data = data_for(name)
    method = build(name, data.shape, norm=True, n_models=n_models)
    steps = len(train(method, data, batch_size=20))
    norms = [module for module in method.modules() if isinstance(module, nn.BatchNorm1d)]
    assert len(norms) == n_models
    method.predict(data.x(torch.arange(9)))
    assert [int(norm.num_batches_tracked) for norm in norms] == [steps] * n_models


@every_method
def test_set_rate_reaches_every_optimiser(name: str) -> None:
    method = build(name, data_for(name).shape, n_models=2)
    method.set_rate(0.125)
    assert {group["lr"] for o in method.optimizers for group in o.param_groups} == {0.125}


@every_method
def test_options_are_frozen_and_documented(name: str) -> None:
    kind = find(name)
    assert kind.__doc__
    assert kind.options_type.__doc__
    assert not kind.options_type.__doc__.startswith(kind.options_type.__name__ + "(")
    options: Any = kind.options_type()
    with pytest.raises(AttributeError):
        options.epochs = 3


@every_method
def test_names_are_found_however_written(name: str) -> None:
    assert find(name.upper().replace("-", "_")) is find(name)


@every_method
def test_inputs_may_have_any_shape(name: str) -> None:
    data = CrowdData(features().reshape(-1, 1, D), crowd(alone=name == "true-labels"))

    def make() -> Net:
        return Net(nn.Flatten(), nn.Linear(D, C))

    method = create(name, make, data.shape, SETTINGS.get(name))
    train(method, data, epochs=2)
    assert method.predict(data.x(torch.arange(2))).shape == (2, C)
