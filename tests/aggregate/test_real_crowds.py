"""On the real crowds, models of annotators beat counting heads."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdwise

DATA = os.environ.get("CROWDWISE_DATA")


@pytest.mark.skipif(DATA is None, reason="CROWDWISE_DATA does not say where the real crowds are")
@pytest.mark.parametrize("method", ["dawid-skene", "grouped-dawid-skene", "mace"])
def test_ahead_of_majority_on_all_six_crowds(method):
    for name in ("bluebird", "dog", "product", "rte", "sentiment", "web"):
        folder = Path(DATA) / "truth-inference" / name
        rows = pl.read_csv(folder / "label.csv")
        truth = dict(pl.read_csv(folder / "truth.csv").iter_rows())
        crowd = crowdwise.Annotations.from_frame(rows)
        known = np.array([truth.get(item, -1) for item in crowd.item_ids.tolist()])

        def accuracy(answer, known=known):
            return (answer.labels == known)[known >= 0].mean()

        votes = accuracy(crowdwise.aggregate(crowd, "majority"))
        assert accuracy(crowdwise.aggregate(crowd, method)) > votes + 0.003, name
