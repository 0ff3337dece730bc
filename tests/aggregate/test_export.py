import numpy as np
import polars as pl
import pytest

import crowdwise
from crowdwise.aggregate.export import csv_text, neutralised, write_frame
from crowdwise.aggregate.summary import summarise
from crowdwise.errors import InputError


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd", "-cmd|' /C calc'!A0", "@SUM(A1)", "\tx", "\rx", "=", "-", "-1+1", "+1-2"],
)
def test_what_spreadsheets_would_run_is_quoted(text):
    assert neutralised(text) == "'" + text


@pytest.mark.parametrize(
    "text", ["", "cat", "a=b", "-1", "+2.5", "-.5", "-1e-5", "'=x", "é", " =x"]
)
def test_what_they_would_not_stays(text):
    assert neutralised(text) == text


def test_csv_neutralises_names_and_text_and_leaves_numbers():
    frame = pl.DataFrame({"=item": ["=x", None, "ok, then"], "p": [-0.5, 0.5, None]})
    assert csv_text(frame) == "'=item,p\n'=x,-0.5\n,0.5\n\"ok, then\",\n"


def test_consensus_of_odd_names(tmp_path):
    crowd = crowdwise.Annotations.from_triples(
        ["=i", "=i", "j"], ["<script>", "-1", "@b"], ["+yes", "+yes", "no"]
    )
    answer = crowdwise.aggregate(crowd)
    write_frame(answer.to_frame(), str(tmp_path / "c.csv"))
    write_frame(answer.annotators, str(tmp_path / "a.csv"))
    write_frame(answer.to_frame(), str(tmp_path / "c.parquet"))
    assert pl.read_csv(tmp_path / "c.csv")["item"].to_list() == ["'=i", "j"]
    assert pl.read_csv(tmp_path / "c.csv").columns[3:] == ["p_+yes", "p_no"]
    people = pl.read_csv(tmp_path / "a.csv", infer_schema=False)["annotator"].to_list()
    assert sorted(people) == ["'@b", "-1", "<script>"]
    assert pl.read_parquet(tmp_path / "c.parquet").equals(answer.to_frame())


def test_other_formats_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"end it in \.csv or \.parquet"):
        write_frame(pl.DataFrame({"a": [1]}), str(tmp_path / "a.xlsx"))
    assert list(tmp_path.iterdir()) == []


def test_summary_counts():
    crowd = crowdwise.Annotations.from_triples([0, 0, 0, 1], [0, 1, 2, 0], list("aabb"))
    answer = crowdwise.aggregate(crowd, "majority")
    summary = summarise(answer, crowd, np.array([0, 0]))
    assert summary["consensus"] == {"a": 1, "b": 1}
    assert summary["labels_like_consensus"] == 0.75
    assert (summary["accuracy"], summary["items_with_truth"]) == (0.5, 2)
    assert summarise(answer, crowd, np.array([-1, -1]))["accuracy"] is None
    assert "accuracy" not in summarise(answer, crowd)
