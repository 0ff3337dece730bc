"""Trains small models, alone or as one of several processes: `python -m tests.engine.together`.

Arguments: a file for what came out, then the names of cases.
"""

import sys

import numpy as np
import pytest
import torch

from crowdwise import methods, nets
from crowdwise.batches import CrowdData, CrowdShape
from crowdwise.engine import Split, fit, make_fabric, predict, seeded
from crowdwise.methods import team
from crowdwise.methods.base import Method
from crowdwise.methods.registry import BUILT_IN
from tests.engine import small

NORMED = ("crowd-layer", "ccc", "max-mig")
# the same by autograd, one peer after the other; and stepping over the batch's annotators only
ALIKE = ("ccc apart", "ccc apart norm", "ccc many")
CASES = [*BUILT_IN, *(f"{name} norm" for name in NORMED), *ALIKE]
# 80 items by 18: four whole batches, shared unevenly by four, and one of 8; by 26: one of 2
SIZES = {"crowd-layer": 26, "max-mig": 26}


def build(case: str, **options) -> tuple[Method, CrowdData]:
    """The method of a case and its crowd; the net has no dropout, and batch norm if it says so."""
    name, *how = case.split()
    x, y = small.inputs()
    crowd = small.crowd(y)
    if name == "true-labels":
        crowd = type(crowd)(
            np.arange(len(y)), 0 * y, y, np.arange(len(y)), np.arange(1), np.arange(small.C)
        )
    data = CrowdData(x, crowd)
    extra = {"ccc": {"warmup_epochs": 1, "n_groups": 2, "meta_size": 12, "meta_batch_size": 7}}
    extra["ccc"] |= {"active": "all"}
    own = {"doctor-net": {"weights": "learned"}}
    given = {"epochs": 3, "lr": 1e-2, "batch_size": SIZES.get(name, 18), "optimizer": "sgd"}
    given |= {**extra.get(name, {}), **own.get(name, {}), **options}
    shape = CrowdShape(*data.shape)

    def net() -> nets.Net:
        made = nets.make("mlp", shape.input, small.C, hidden=(8,), dropout=0.0, norm="norm" in how)
        if "apart" in how:
            made.backbone.append(torch.nn.Tanh())
        return made

    with pytest.MonkeyPatch.context() as patch:
        if "many" in how:
            patch.setattr(team, "MANY", 1)
            given["optimizer"] = "adam"
        return methods.create(name, net, shape, given), data


def train(case: str, **options) -> dict[str, torch.Tensor]:
    """Weights, losses, scores and predictions of one case."""
    with seeded(3):
        method, data = build(case, **options)
        split = Split.of(*small.inputs(1))
        fabric = make_fabric("fp32", "cpu")
        history = fit(method, data, {"test": split, "agreement": data}, fabric=fabric)
        ends = torch.rand(1)  # the common stream is where it would be
    numbers = [[record[name] for name in ("loss", "test", "agreement")] for record in history]
    return {
        **method.state_dict(),
        "history": torch.tensor(numbers, dtype=torch.float64),
        "predicted": predict(method, split.x),
        "stream": ends,
    }


if __name__ == "__main__":
    out, *cases = sys.argv[1:]
    found = {case: train(case) for case in cases}
    if make_fabric("fp32", "cpu").global_rank == 0:
        torch.save(found, out)
