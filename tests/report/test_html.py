"""The report as a file: what it says, what it holds, what it refuses, without a browser."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError
from crowdwise.report.html import embedded, page, settings, write_report
from crowdwise.report.html_annotators import annotator_table, labels_given, packed
from crowdwise.report.html_charts import curves, picture
from crowdwise.report.html_groups import binned, group_map, group_table, mean_distances, ordered
from crowdwise.report.html_items import against_majority, count_votes, second_look, sureness
from crowdwise.report.html_tables import collect, label_table, shown
from tests.report import runs


class Tags(HTMLParser):
    """Every element with its attributes, and the data a script reads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def data_of(text: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    crowd = runs.crowd(items=40, annotators=9)
    return runs.write(tmp_path / "run", crowd, groups=np.arange(9) % 3)


def test_the_page_needs_nothing_from_elsewhere(run: Path) -> None:
    text = write_report(run).read_text(encoding="utf-8")
    addresses = [
        value
        for _, attributes in Tags(text).found
        for name in ("src", "href", "action", "xlink:href")
        if (value := attributes.get(name)) is not None
    ]
    assert addresses
    assert [a for a in addresses if not a.startswith(("#", "data:"))] == []
    assert not re.search(r"@import|url\(|//cdn|https?://", text)


def test_the_policy_names_the_one_script(run: Path) -> None:
    text = write_report(run).read_text(encoding="utf-8")
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    fingerprint = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = dict(Tags(text).found[3][1])["content"]
    assert f"script-src 'sha256-{fingerprint}'" in policy
    assert policy.startswith("default-src 'none'")


def test_the_same_run_gives_the_same_bytes(run: Path, tmp_path: Path) -> None:
    first, second = write_report(run), write_report(run, tmp_path / "again.html")
    assert first == run / "report.html"
    assert first.read_bytes() == second.read_bytes()


def test_markup_of_users_makes_no_element(tmp_path: Path) -> None:
    plain = runs.write(tmp_path / "plain", runs.crowd(60, 12), groups=np.arange(12) % 3)
    evil = runs.evil(tmp_path / "evil")
    texts = [write_report(folder).read_text(encoding="utf-8") for folder in (plain, evil)]
    tags = [{tag for tag, _ in Tags(text).found} for text in texts]
    assert tags[0] == tags[1]
    assert [sum(tag == "script" for tag, _ in Tags(text).found) for text in texts] == [2, 2]
    assert data_of(texts[1])["annotators"]["values"]["annotator"][: len(runs.EVIL)] == [*runs.EVIL]


@pytest.mark.parametrize("text", [*runs.EVIL, "\\u003c", "é\x00\x7f"])
def test_embedded_text_comes_back_and_ends_no_element(text: str) -> None:
    held = embedded([text])
    assert json.loads(held) == [text]
    assert not re.search("[<>&\u2028\u2029]", held)


def test_long_and_broken_names_are_bounded() -> None:
    assert shown("x" * 200) == "x" * 99 + "…"
    assert shown("\ud800").encode("utf-8") == b"?"


def test_settings_prefer_what_was_chosen() -> None:
    config = {
        "annotators": 3,
        "classes": ["a"],
        "net": "mlp",
        "parameters": {"method": "ccc", "epochs": None},
        "settings": {"epochs": 20, "fast": True, "lr": 1e-3},
    }
    assert settings(config) == [
        ("method", "ccc"),
        ("net", "mlp"),
        ("epochs", "20"),
        ("fast", "yes"),
        ("lr", "0.001"),
    ]


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda run: (run / "done").unlink(), "not finished"),
        (lambda run: (run / "labels.parquet").unlink(), "labels.parquet: is not there"),
        (lambda run: (run / "annotators.parquet").write_text("?"), "cannot be read"),
        (lambda run: (run / "config.json").write_text('{"classes": ["a"]}'), "do not fit together"),
        (lambda run: (run / "config.json").unlink(), "there is no config.json"),
        (
            lambda run: pl.read_parquet(run / "annotators.parquet")[:3].write_parquet(
                run / "annotators.parquet"
            ),
            "do not fit together",
        ),
    ],
)
def test_a_damaged_run_is_named(run: Path, damage, complaint: str) -> None:
    damage(run)
    with pytest.raises(InputError, match=complaint):
        collect(run)


def test_tables_come_back_as_the_crowd(run: Path) -> None:
    crowd = runs.crowd(items=40, annotators=9)
    findings = collect(run)
    assert np.array_equal(findings.crowd.item, crowd.item)
    assert np.array_equal(findings.crowd.annotator, crowd.annotator)
    assert np.array_equal(findings.crowd.label, crowd.label)
    assert findings.confusions.shape == (9, 3, 3)
    assert findings.confusions.sum(axis=2) == pytest.approx(np.ones((9, 3)), abs=1e-5)
    assert findings.groups.tolist() == (np.arange(9) % 3).tolist()


def test_confusions_are_packed_row_by_row(run: Path) -> None:
    findings = collect(run)
    held = annotator_table(findings)["matrices"]
    cells = np.frombuffer(base64.b64decode(held["cells"]), dtype=np.uint8).reshape(9, 3, 3)
    assert held["of"] is None
    assert cells / 255 == pytest.approx(findings.confusions, abs=0.5 / 255 + 1e-6)


def test_columns_others_add_are_shown_as_they_are(run: Path) -> None:
    path = run / "annotators.parquet"
    added = {
        "suspect": [True, None, False] * 3,
        "reason": ["<b>", None, ""] * 3,
        "odds": [float("inf"), float("nan"), 0.25] * 3,
    }
    pl.read_parquet(path).with_columns(**{k: pl.Series(v) for k, v in added.items()}).write_parquet(
        path
    )
    table = annotator_table(collect(run))
    assert table["values"]["suspect"][:3] == ["yes", None, "no"]
    assert table["values"]["reason"][:3] == ["<b>", None, ""]
    assert table["values"]["odds"][:3] == [None, None, 0.25]
    kinds = {column["key"]: column["kind"] for column in table["columns"]}
    assert (kinds["reason"], kinds["odds"], kinds["group"]) == ("text", "number", "group")


def test_with_little_room_those_with_most_labels_keep_their_matrix() -> None:
    confusions = np.ones((4, 2, 2), dtype=np.float32)
    assert packed(confusions, np.array([3, 9, 1, 9]), room=11)["of"] == [1, 3]


def test_no_matrix_is_dropped_without_a_word(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "__defaults__", (20,))
    assert "matrices of the 2 annotators with most labels, of 9" in page(collect(run))


def test_bars_of_labels_given_hold_everyone(run: Path) -> None:
    findings = collect(run)
    given = labels_given(findings)
    counts = np.bincount(findings.crowd.annotator, minlength=9)
    assert sum(bar.count for bar in given["bars"]) == given["heard"] == 9
    assert (given["most"], given["median"]) == (counts.max(), np.median(counts))
    assert np.sort(counts)[::-1][: given["half"]].sum() >= counts.sum() / 2


def small(tmp_path: Path) -> Path:
    """Items: one agreed, one overruled, one tie, one outside a tie, one silent, one single vote."""
    item = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 5])
    who = np.array([0, 1, 0, 1, 2, 0, 1, 0, 1, 0])
    said = np.array([0, 0, 0, 0, 1, 0, 1, 0, 1, 0])
    names = np.array(["a", "b", "c"]), np.array(["x", "y", "z"])
    crowd = Annotations(item, who, said, np.arange(6), *names)
    folder = runs.write(tmp_path / "small", crowd)
    consensus = pl.DataFrame(
        {
            "item": np.arange(6),
            "label": ["x", "y", "y", "z", "z", "x"],
            "probability": [0.99, 0.6, 0.7, 0.4, 0.2, 0.8],
        }
    )
    consensus.write_parquet(folder / "consensus.parquet")
    return folder


def test_consensus_against_majority(tmp_path: Path) -> None:
    findings = collect(small(tmp_path))
    told = against_majority(findings, count_votes(findings))
    assert (told["labelled"], told["unlabelled"]) == (5, 1)
    assert (told["same"], told["moved"], told["settled"], told["beside_ties"]) == (2, 1, 1, 1)
    assert [(bar.label, bar.count) for bar in told["flows"]] == [("x → y", 1)]


def test_items_of_least_probability_come_first_with_their_votes(tmp_path: Path) -> None:
    findings = collect(small(tmp_path))
    found = second_look(findings, count_votes(findings))
    assert found["of"] == 5
    assert found["values"]["item"] == ["3", "1", "2", "5", "0"]
    assert found["values"]["why"] == [
        "is outside a tie; 0 of 2 agree",
        "overrules the majority; 1 of 3 agree",
        "settles a tie; 1 of 2 agree",
        "rests on one vote",
        "as the majority; 2 of 2 agree",
    ]
    assert found["values"]["votes"][1] == "x 2 · y 1"
    assert found["values"]["voices"][1] == [[0, 0], [1, 0], [2, 1]]


def test_every_item_is_in_one_bar_of_sureness(tmp_path: Path) -> None:
    findings = collect(small(tmp_path))
    counts = {bar.label: bar.count for bar in sureness(count_votes(findings))}
    assert sum(counts.values()) == 6
    assert (counts["below 50%"], counts["99% or more"], counts["60% to 70%"]) == (2, 1, 1)


def test_groups_stay_together_in_the_map() -> None:
    rng = np.random.default_rng(1)
    group = rng.integers(5, size=50)
    order = ordered(rng.random((50, 3, 3)).astype(np.float32), group)
    assert sorted(order.tolist()) == list(range(50))
    assert (np.diff(group[order]) != 0).sum() == 4


def test_a_cell_is_the_mean_over_all_pairs_of_its_bins() -> None:
    rows = np.random.default_rng(2).random((30, 4)).astype(np.float32)
    bins = binned(np.repeat([0, 1, 2], 10), cells=7)
    assert [len(part) for part in bins] == [5, 5] * 3
    pairs = ((rows[:, None] - rows[None]) ** 2).mean(axis=2)
    slow = [[pairs[np.ix_(a, b)].mean() for b in bins] for a in bins]
    assert mean_distances(rows, bins) == pytest.approx(np.array(slow), abs=1e-6)


def test_many_annotators_share_cells_and_the_page_says_so(tmp_path: Path) -> None:
    crowd = runs.crowd(items=5000, annotators=500)
    findings = collect(runs.write(tmp_path / "run", crowd, groups=np.arange(500) % 4))
    drawn = group_map(findings)
    assert drawn["size"] == 160
    assert sum(drawn["cells"]["annotators"]) == drawn["annotators"] == 500
    assert len(drawn["edges"]) == 3
    assert "500 annotators share 160 rows" in page(findings)


def test_a_group_holds_its_annotators_labels(run: Path) -> None:
    findings = collect(run)
    table = group_table(findings)["values"]
    given = np.bincount(findings.crowd.annotator, minlength=9)
    assert table["group"] == [0, 1, 2]
    assert table["annotators"] == [3, 3, 3]
    assert table["labels"] == [int(given[g::3].sum()) for g in range(3)]


def test_without_groups_the_map_says_so(tmp_path: Path) -> None:
    findings = collect(runs.write(tmp_path / "run", runs.crowd(30, 6)))
    assert group_table(findings) is None
    assert "This method has no groups" in page(findings)


def test_one_annotator_has_no_map(tmp_path: Path) -> None:
    findings = collect(runs.write(tmp_path / "run", runs.crowd(30, 1, per_item=1)))
    assert group_map(findings) is None
    assert "fewer than two annotators" in page(findings)


def test_the_picture_is_a_png_from_dark_to_bright() -> None:
    address = picture(np.array([[0, 255], [128, 0]], dtype=np.uint8))
    png = Image.open(io.BytesIO(base64.b64decode(address.removeprefix("data:image/png;base64,"))))
    assert png.size == (2, 2)
    assert np.array(png.convert("RGB"))[0].tolist() == [[68, 1, 84], [253, 231, 37]]


def test_curves_skip_what_is_not_measured() -> None:
    history = [
        {"epoch": 1, "loss": 4.0, "rate": 0.1, "seconds": 1.0},
        {"epoch": 2, "loss": float("nan"), "rate": 0.1},
        {"epoch": 3, "loss": 2.0, "rate": 0.1, "validation": 0.5, "note": "x"},
    ]
    drawn = {curve.name: curve for curve in curves(history)}
    assert list(drawn) == ["training loss", "learning rate", "validation"]
    assert drawn["training loss"].points == "0.0,0.0 300.0,120.0"
    assert [curve.constant for curve in drawn.values()] == [False, True, True]


def test_a_long_run_is_thinned_and_keeps_its_end() -> None:
    history = [{"epoch": e, "loss": 1 / e} for e in range(1, 2001)]
    (curve,) = curves(history)
    assert (curve.drawn, curve.epochs, curve.logarithmic) == (500, 2000, True)
    assert curve.last == "0.0005"
    assert curve.last_x == 300


def test_tables_of_a_crowd_do_not_need_text_ids() -> None:
    crowd = Annotations.from_triples([7, 9], [1, 2], [True, False])
    assert label_table(crowd).schema == dict.fromkeys(("item", "annotator", "label"), pl.Int32)
