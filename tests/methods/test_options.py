"""Options: what cannot work is refused by name, and schedules give the rates they say."""

from math import cos, pi

import numpy as np
import pytest

from crowdwise.errors import InputError
from crowdwise.methods.options import Options, make_options


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epochs": 0}, "option epochs is 0; it must be at least 1"),
        ({"batch_size": 0}, "option batch_size is 0"),
        ({"n_models": 0}, "option n_models is 0"),
        ({"lr": 0.0}, "option lr is 0.0; it must be greater than 0"),
        ({"weight_decay": -1.0}, "option weight_decay"),
        ({"momentum": 1.0}, "option momentum"),
        ({"optimizer": "rmsprop"}, "option optimizer is 'rmsprop'; it must be one of sgd, adam"),
        ({"schedule": "warm"}, "it must be one of constant, step, cosine"),
        ({"selection": "best"}, "it must be one of last, validation"),
        ({"lr": "fast"}, "option lr is 'fast'; it must be a number"),
        ({"lr": float("nan")}, "option lr is nan; it must be a number"),
        ({"epochs": 2.5}, "option epochs is 2.5; it must be a whole number"),
        ({"epochs": True}, "option epochs is True; it must be a number"),
        ({"milestones": (1, "x")}, "option milestones is 'x'"),
        ({"speed": 3}, "there is no option 'speed'; choose from batch_size, epochs"),
    ],
)
def test_what_cannot_work_is_refused(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make_options(Options, wrong)


def test_values_become_what_the_option_is() -> None:
    options = make_options(
        Options, {"epochs": np.int64(7), "lr": 1, "batch_size": 64.0, "milestones": 40}
    )
    assert (options.epochs, options.lr, options.batch_size) == (7, 1.0, 64)
    assert [type(v) for v in (options.epochs, options.lr, options.batch_size)] == [int, float, int]
    assert options.milestones == (40,)


def test_step_divides_by_ten_at_each_milestone() -> None:
    options = Options(lr=0.1, schedule="step", milestones=(2, 4))
    rates = [options.rate(epoch) for epoch in range(6)]
    assert rates == pytest.approx([0.1, 0.1, 0.01, 0.01, 0.001, 0.001])


def test_cosine_falls_to_nothing() -> None:
    options = Options(lr=0.1, schedule="cosine", epochs=10)
    rates = [options.rate(epoch) for epoch in range(11)]
    assert rates == pytest.approx([0.05 * (1 + cos(pi * epoch / 10)) for epoch in range(11)])
    assert rates[0] == pytest.approx(0.1)
    assert rates[10] == pytest.approx(0)


def test_constant_stays() -> None:
    assert Options(lr=0.3).rate(999) == 0.3
