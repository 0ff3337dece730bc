"""Runs beside each other: what differs, who is right, and where they part."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdwise.cli.main import run
from crowdwise.errors import InputError
from crowdwise.report.compare import compare_runs
from tests.report.runs import crowd, write


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two runs over one crowd; the second answers the first three items otherwise, and surely."""
    monkeypatch.chdir(tmp_path)
    people = crowd(items=60, annotators=8)
    for name in ("one", "two"):
        write(Path(name), people)
    table = pl.read_parquet("two/consensus.parquet")
    other = {"cat": "dog", "dog": "owl", "owl": "cat"}
    flipped = [other[y] if i < 3 else y for i, y in enumerate(table["label"])]
    sure = [0.99 - i / 100 if i < 3 else p for i, p in enumerate(table["probability"])]
    table = table.with_columns(
        label=pl.Series(flipped), probability=pl.Series(sure), classifier=pl.Series(flipped)
    )
    table.sample(fraction=1, shuffle=True, seed=0).write_parquet("two/consensus.parquet")
    config = json.loads(Path("two/config.json").read_text())
    config["settings"]["lr"] = 0.5
    config["parameters"]["method"] = "crowd-layer"
    Path("two/config.json").write_text(json.dumps(config))
    labels = pl.read_parquet("one/consensus.parquet").select("item", "label")
    labels[1:40].write_csv("truth.csv")
    return ["one", "two"]


def test_items_meet_by_name_and_only_true_differences_are_told(two: list[str]) -> None:
    found = compare_runs(two)
    assert found["settings"] == {"method": ["ccc", "crowd-layer"], "lr": ["0.01", "0.5"]}
    assert found["pairs"] == [{"runs": two, "items": 60, "agree": pytest.approx(57 / 60)}]
    assert found["disagreements"] == 3
    assert {row["item"] for row in found["items"]} == {f"photo/{i:06}.jpg" for i in range(3)}
    for row in found["items"]:
        assert row["labels"][0] != row["labels"][1]
    least = [min(row["probabilities"]) for row in found["items"]]
    assert least == sorted(least, reverse=True)


def test_scores_where_the_truth_is_known(two: list[str]) -> None:
    one, other = compare_runs(two, "truth.csv")["runs"]
    assert one["asked"] == other["asked"] == 39
    assert one["consensus"] == 1.0
    assert other["consensus"] == other["classifier"] == pytest.approx(37 / 39)
    assert one["classifier"] is None  # a run that does not say


def test_the_command_in_words_and_as_json(
    two: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for arguments in ([], ["--json"]):
        with pytest.raises(SystemExit) as stopped:
            run(["compare", *two, "--truth", "truth.csv", *arguments])
        assert not stopped.value.code
    out = capsys.readouterr().out
    words, _, text = out.partition("{")
    assert "A and B agree on 95.0% of 60 items they share" in words
    assert "photo/000002.jpg" in words
    assert json.loads("{" + text)["disagreements"] == 3


def test_runs_over_other_items(two: list[str]) -> None:
    people = crowd(items=70, annotators=8)
    write(Path("more"), people)
    found = compare_runs([*two, "more"])
    assert found["common_items"] == 60
    assert [pair["items"] for pair in found["pairs"]] == [60, 60, 60]
    table = pl.read_parquet("more/consensus.parquet")
    table.with_columns(item=pl.Series(np.arange(70))).write_parquet("more/consensus.parquet")
    apart = compare_runs(["one", "more"])
    assert apart["pairs"][0]["agree"] is None
    assert apart["items"] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: ["one"], "nothing to be compared with"),
        (lambda: ["one", "one"], "named twice"),
        (lambda: ["one", "absent"], "absent: there is no config.json"),
        (lambda: [Path("two/done").unlink(), "one", "two"][1:], "not finished"),
        (lambda: [Path("two/consensus.parquet").write_text("x"), "one", "two"][1:], "damaged"),
    ],
)
def test_a_fault_is_one_sentence(two: list[str], change, said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare_runs(change())


def test_truth_of_other_items(two: list[str]) -> None:
    Path("other.csv").write_text("item,label\nx,cat\n")
    with pytest.raises(InputError, match="none of its 1 items"):
        compare_runs(two, "other.csv")
