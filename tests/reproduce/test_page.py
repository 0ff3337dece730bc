"""Pages of many places: the paper beside ours, words for another scale, who leads by how much."""

import csv

import pytest

from crowdwise.reproduce import overview, page
from crowdwise.reproduce.chart import draw


def line(method, case, seed, last, oracle, scale="cpu", **more):
    crowd = {"case": case} if case else {}
    cell = {"dataset": "fashion-mnist", "method": method, "seed": seed, "crowd": crowd}
    return {
        "cell": cell | {"options": {}, "net_options": {}, "scale": scale, "label": ""} | more,
        "paired": {"last": last, "oracle": oracle},
        "single": {"last": [last], "oracle": [oracle]},
        "seconds": 1.0,
        "machine": "a machine",
        "torch": "2",
        "label": more.get("label", ""),
    }


LINES = [
    line("ccc", "IND-I", 0, 80.0, 81.0),
    line("ccc", "IND-I", 1, 82.0, 83.0),
    line("crowd-layer", "IND-I", 0, 70.0, 74.0),
    line("major-vote", "IND-I", 0, 60.0, 75.0),
    line("ccc", "COR-I", 0, 71.0, 72.0),
    line("conal", "COR-I", 0, 73.5, 74.0),
]


def test_ccc_stands_against_every_other_method_of_its_place():
    found = {(lead.place, lead.other): lead for lead in overview.leads(page.rows_of(LINES))}
    assert set(found) == {
        ("fashion-mnist, IND-I", "CrowdLayer"),
        ("fashion-mnist, IND-I", "MajorVote"),
        ("fashion-mnist, COR-I", "CoNAL"),
    }
    lead = found["fashion-mnist, IND-I", "CrowdLayer"]
    assert lead.ours == pytest.approx(11.0)  # the mean of two seeds, against one
    assert lead.paper == pytest.approx(92.51 - 75.89)
    assert found["fashion-mnist, COR-I", "CoNAL"].ours == pytest.approx(-2.5)


def test_the_overview_has_the_papers_beside_and_tells_a_loss_from_oracle_to_last():
    rows = page.rows_of(LINES)
    grid = overview.grid(rows, "last").splitlines()
    assert grid[0] == "| method | IND-I | COR-I |"
    assert grid[2] == "| CCC | 81.0 (92.5) | 71.0 (91.8) |"
    assert "| CoNAL |  | 73.5 (75.5) |" in grid
    pattern = overview.pattern(rows).splitlines()
    assert pattern[2] == (
        "| IND-I | +21.00 (+31.51) | +11.00 (+16.62) | +11.00 (+16.62), CrowdLayer "
        "| 15.0 (23.9) | 4.0 (12.9) | 1.0 (0.1) |"
    )
    assert pattern[3].startswith("| COR-I |  |  | -2.50 (+16.26), CoNAL |  |  | 1.0 (0.2) |")


def test_another_scale_is_told_on_the_page_the_terminal_and_the_picture(tmp_path):
    text = page.page("Title", "command", LINES)
    assert "**Not the paper's setting (scale cpu): fashion-mnist with 4,000 of" in text
    assert "| paper, its own scale, last |" in text
    assert "1 to 2 per row (0, 1)" in text
    assert "Not the paper's setting" in str(page.for_terminal(LINES)[0].caption)
    written = page.write_tables(tmp_path, "Title", "command", LINES, tmp_path / "docs" / "x.md")
    assert [path.name for path in written] == [
        *("table.md", "table.csv", "table.png", "table.svg"),
        *("x.md", "x.png", "x.svg"),
    ]
    assert "Not the paper's setting (scale cpu)" in (tmp_path / "table.svg").read_text()
    assert "(x.png)" in (tmp_path / "docs" / "x.md").read_text()
    table = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert {row["scale"] for row in table} == {"cpu"}
    assert [row["crowd"] for row in table[-2:]] == ["COR-I", "COR-I"]


def test_the_papers_own_scale_needs_no_such_words(tmp_path):
    lines = [line("ccc", "IND-I", 0, 80.0, 81.0, scale="paper")]
    text = page.page("Title", "command", lines)
    assert page.NOT_THE_PAPERS not in text
    assert "| paper, last |" in text
    assert page.for_terminal(lines)[0].caption is None
    page.write_tables(tmp_path, "Title", "command", lines)
    assert "fashion-mnist: as in the paper" in (tmp_path / "table.svg").read_text()
    digits = [line("ccc", "IND-I", 0, 80.0, 81.0, scale="paper", dataset="digits")]
    page.write_tables(tmp_path, "Title", "command", digits, note="A note.")
    assert "as in the paper" not in (tmp_path / "table.svg").read_text()
    assert "digits: A simulated crowd" in (tmp_path / "table.svg").read_text()
    assert "A note." in (tmp_path / "table.md").read_text()


def test_the_picture_has_every_number_of_the_pair_and_the_papers():
    marks = draw(page.rows_of(LINES), "a", "b")["datasets"]["rows"]
    assert len(marks) == 3 * 5  # last, oracle, the paper's, for five rows
    ours = [mark for mark in marks if mark["method"] == "CCC" and mark["crowd"] == "IND-I"]
    assert [(mark["what"], mark["accuracy"]) for mark in ours] == [
        ("last epoch", 81.0),
        ("oracle epoch", 82.0),
        ("the paper's, last epoch", 92.51),
    ]
    assert (ours[0]["low"], ours[0]["high"]) == (79.59, 82.41)


def test_runs_that_differ_in_a_number_are_drawn_along_it():
    along_k = [
        line("ccc", "", 0, 80.0, 81.0, crowd={"case": "IND-I", **more})
        for more in ({"k": 1}, {}, {"k": 9})
    ]
    assert {mark["x"] for mark in draw(page.rows_of(along_k), "a", "b")["datasets"]["rows"]} == {
        *(1, 3, 9)
    }
    along_G = [
        line("ccc", "IND-I", 0, 80.0, 81.0, options={"n_groups": G}, label=f"G = {G}")
        for G in (5, 250)
    ]
    marks = draw(page.rows_of(along_G), "a", "b")["datasets"]["rows"]
    assert {(mark["who"], mark["x"]) for mark in marks} == {("CCC", 5), ("CCC", 250)}
