"""The two pictures: what their rows say, what their titles admit, and that the files are whole."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from crowdwise.annotations import stats
from crowdwise.annotations.table import Annotations
from crowdwise.errors import InputError
from crowdwise.report import figures


def crowd_with(counts: list[int]) -> Annotations:
    """One annotator per count, who labelled that many items of their own."""
    annotator = np.repeat(np.arange(len(counts)), counts)
    items = np.arange(len(annotator))
    return Annotations.from_triples(items, annotator, items % 2)


def two_kinds(n_annotators: int, n_items: int = 24) -> tuple[Annotations, np.ndarray]:
    """Even annotators are right, odd ones name the next of three classes; everyone sees all."""
    truth = np.arange(n_items) % 3
    item, annotator = np.divmod(np.arange(n_items * n_annotators), n_annotators)
    return Annotations.from_triples(item, annotator, (truth[item] + annotator % 2) % 3), truth


def rows_of(spec: figures.Spec) -> list[dict]:
    return spec["datasets"]["rows"]


@pytest.mark.parametrize(
    "counts",
    [[1], [3, 3, 3], [1, 2, 5, 19, 20, 21, 22, 40], [1] * 50 + [2, 10, 1000], [7, 15_000, 8, 9]],
)
def test_every_annotator_is_in_the_bar_of_their_count(counts):
    rows = rows_of(figures.labels_per_annotator(crowd_with(counts)))
    for row in rows:
        few = row["who"].startswith("at most")
        inside = [c for c in counts if row["lower"] < c <= row["upper"] and (c <= 20) == few]
        assert row["top"] - row["base"] == len(inside) > 0
    assert sum(row["top"] - row["base"] for row in rows) == len(counts)


def test_bars_stand_on_one_another_where_a_bin_holds_few_and_many():
    counts = [5, 20, 30, 45, 700, 1400, 1450, 1490, 1495]  # bins of 50
    rows = rows_of(figures.labels_per_annotator(crowd_with(counts)))
    first_bin = [(row["base"], row["top"]) for row in rows if row["lower"] == 0]
    assert first_bin == [(0, 2), (2, 4)]


def test_the_histogram_says_how_many_gave_few_labels():
    subtitle = figures.labels_per_annotator(crowd_with([20, 21, 3, 4]))["title"]["subtitle"]
    assert subtitle == ["3 of 4 annotators (75%) gave at most 20 labels; median 12, most 21"]


def test_annotators_without_a_label_are_mentioned():
    crowd = crowd_with([2, 3])
    crowd = Annotations(
        crowd.item, crowd.annotator, crowd.label, crowd.item_ids, np.arange(5), crowd.classes
    )
    subtitle = figures.labels_per_annotator(crowd)["title"]["subtitle"][0]
    assert subtitle.endswith("; 3 without a label not drawn")


def test_the_heat_map_holds_the_distances_of_the_chosen_order():
    annotations, truth = two_kinds(6)
    rows = rows_of(figures.annotator_distances(annotations, truth))
    drawn = np.zeros((6, 6))
    for row in rows:
        drawn[row["row"], row["column"]] = row["distance"]
    distances = stats.confusion_distances(stats.true_confusions(annotations, truth))
    assert len(rows) == 36
    np.testing.assert_allclose(np.sort(drawn, axis=None), np.sort(distances, axis=None), rtol=1e-3)
    near = drawn < 0.1
    assert near[:3, :3].all()
    assert near[3:, 3:].all()
    assert not near[:3, 3:].any()


def test_similar_annotators_become_neighbours():
    distances = 1.0 - np.equal.outer(np.arange(30) % 3, np.arange(30) % 3)
    groups = figures.leaf_order(distances) % 3
    assert np.count_nonzero(np.diff(groups)) == 2


def test_the_heat_map_says_whom_it_leaves_out():
    annotations, truth = two_kinds(200, n_items=6)
    spec = figures.annotator_distances(annotations, truth)
    assert "the 150 annotators with the most labels, of 200" in spec["title"]["subtitle"][0]
    assert len(rows_of(spec)) == 150**2

    everyone = figures.annotator_distances(annotations, truth, most=200)
    assert "all 200 annotators" in everyone["title"]["subtitle"][0]

    some = Annotations.from_triples([0, 1, 0, 2], list("aabc"), [0, 1, 0, 1])
    spec = figures.annotator_distances(some, {0: 0, 1: 1})
    assert "the 2 annotators of items with known truth, of 3" in spec["title"]["subtitle"][0]


def test_those_with_the_most_labels_are_drawn():
    annotator = np.repeat(np.arange(4), [2, 6, 1, 5])
    item = np.concatenate([np.arange(n) for n in (2, 6, 1, 5)])
    annotations = Annotations.from_triples(item, [f"w{a}" for a in annotator], item % 2)
    spec = figures.annotator_distances(annotations, np.arange(6) % 2, most=2)
    names = re.findall(r"w\d", spec["encoding"]["x"]["axis"]["labelExpr"])
    assert sorted(names) == ["w1", "w3"]


def test_one_annotator_has_no_distances():
    annotations = Annotations.from_triples([0, 1], ["a", "a"], [0, 1])
    with pytest.raises(InputError, match="1 annotators labelled items whose truth is known"):
        figures.annotator_distances(annotations, {0: 1})


def test_files_are_a_png_and_an_svg_and_the_same_each_time(tmp_path: Path):
    annotations, truth = two_kinds(80)  # 6,400 cells: over Altair's limit of 5,000 rows
    spec = figures.annotator_distances(annotations, truth)
    png, svg = figures.write(spec, tmp_path / "new" / "folder", "distances")
    assert [png.name, svg.name] == ["distances.png", "distances.svg"]
    assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ET.fromstring(svg.read_text(encoding="utf-8")).tag.endswith("svg")
    assert "How differently annotators err" in svg.read_text(encoding="utf-8")
    again = figures.write(figures.annotator_distances(annotations, truth), tmp_path, "again")
    assert [p.read_bytes() for p in again] == [png.read_bytes(), svg.read_bytes()]
    assert {p.name for p in tmp_path.iterdir()} == {"new", "again.png", "again.svg"}


def test_odd_annotator_names_do_not_break_the_picture(tmp_path: Path):
    names = ['a"b', "c'd", "é😀", "</text><script>", "line\nbreak", "bell\x07", "\\", "x" * 500]
    annotations, truth = two_kinds(len(names))
    annotations = Annotations(
        annotations.item,
        annotations.annotator,
        annotations.label,
        annotations.item_ids,
        np.array(names, dtype=object),
        annotations.classes,
    )
    _, svg = figures.write(figures.annotator_distances(annotations, truth), tmp_path, "odd")
    texts = {t.text for t in ET.fromstring(svg.read_text(encoding="utf-8")).iter() if t.text}
    assert {'a"b', "c'd", "é😀", "</text><script>", "line�break", "bell�", "\\"} <= texts
