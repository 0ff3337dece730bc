"""True labels: cross entropy for a crowd of one, refused for any other."""

import pytest
import torch
from torch import Tensor

from crowdwise.batches import CrowdBatch
from crowdwise.errors import InputError
from crowdwise.methods.truelabels import TrueLabels
from tests.methods.definitions import check_update, labels_of, softmax
from tests.methods.toys import build, data_for


def written_out(method: TrueLabels, batch: CrowdBatch) -> Tensor:
    z = method.net(batch.x)
    nll = [-torch.log(softmax(z[i])[y]) for i, _, y in labels_of(batch)]
    return sum(nll) / len(nll)


def test_an_update_is_the_definition() -> None:
    check_update("true-labels", written_out)


def test_a_real_crowd_is_refused() -> None:
    with pytest.raises(InputError, match=r"exactly one annotator.* has 7"):
        build("true-labels", data_for("crowd-layer").shape)
