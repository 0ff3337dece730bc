"""The room is a package that can be called, whatever was imported first."""

import subprocess
import sys

import numpy as np
import pytest

import crowdwise
from crowdwise.aggregate.packed import pack
from tests.aggregate.twins import annotations, crowd


@pytest.mark.parametrize(
    "first",
    [
        "import crowdwise.aggregate.majority",
        "from crowdwise.aggregate.votes import vote_shares",
        "from crowdwise import aggregate",
        "import crowdwise.aggregate",
    ],
)
def test_callable_whatever_came_first(first):
    code = f"{first}\nimport crowdwise, sys\nassert callable(crowdwise.aggregate)\n"
    code += "from crowdwise.aggregate.majority import majority\n"
    code += "assert callable(crowdwise.aggregate)\nassert 'torch' not in sys.modules\n"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_packed_blocks_hold_every_label_once(monkeypatch):
    monkeypatch.setattr("crowdwise.aggregate.packed.BLOCK", 8)
    labels, _, _ = crowd(0, n_items=50)
    empty = annotations(labels.item * 2 + 1, labels.annotator, labels.label, 120, 6, 3)
    packed = pack(empty)
    assert len(packed.blocks) > 2
    dense = np.zeros((120, 18))
    np.add.at(dense, (empty.item, empty.annotator * 3 + empty.label), 1)
    found = np.concatenate([block.codes.toarray() for block in packed.blocks])
    assert (found == dense[packed.labelled]).all()
    assert packed.labelled.sum() == packed.n_labelled == 50
    assert max(block.most for block in packed.blocks) == 3


def test_rows_of_the_consensus():
    labels = annotations([0, 0, 1, 3], [0, 1, 0, 1], [1, 1, 0, 0], 4, 2, 2)
    answer = crowdwise.aggregate(labels, "dawid-skene")
    frame = answer.to_frame()
    assert frame.columns == ["item", "label", "probability", "p_c0", "p_c1"]
    assert frame["label"].to_list() == answer.labels.tolist()
    np.testing.assert_allclose(frame["probability"], answer.proba.max(axis=1))
    np.testing.assert_allclose(answer.proba[2], answer.proba[[0, 1, 3]].mean(axis=0))
