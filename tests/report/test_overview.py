"""The summary for people: it says the numbers, and survives names a terminal would obey."""

import io

import numpy as np
from rich.console import Console

from crowdwise.annotations.summary import summarise
from crowdwise.annotations.table import Annotations
from crowdwise.report.overview import show


def printed(summary: dict, name: str = "crowd.csv") -> str:
    stream = io.StringIO()
    show(summary, Console(file=stream, width=100), name)
    return stream.getvalue()


def test_the_numbers_are_there():
    crowd = Annotations.from_triples(
        [0, 0, 1, 1, 2], ["ann", "bo", "ann", "bo", "ann"], ["cat", "cat", "dog", "cat", "dog"]
    )
    read = {"repeats_dropped": 4, "conflicts_settled": 1}
    text = printed(summarise(crowd, {0: "cat", 1: "cow", 2: "dog"}) | read)
    for words in (
        "crowd.csv",
        "3 items, 2 annotators, 5 labels, 2 classes",
        "min 2, median 2.5, mean 2.5, max 3",
        "2 of 2 annotators (100.0%) gave at most 20",
        "50.0% of the pairs of labels on one item agree",
        "3 items with 5 labels",
        "1 of them of a class that no annotator ever named",
        "33.33% of these items",
        "40.00% of these labels",
        "min 50.0%, median 58.3%, max 66.7%",
        "repeats dropped       4 identical labels",
        "conflicts settled     1 time someone gave an item two labels",
    ):
        assert words in text


def test_what_is_not_defined_is_said_in_words():
    text = printed(summarise(Annotations.from_triples([0], ["ann"], ["cat"]), {}))
    assert "1 item, 1 annotator, 1 label, 1 class" in text
    assert "no item has two labels" in text
    assert "not defined" in text
    assert "NR1" not in text
    assert "nan" not in text


def test_of_many_classes_the_most_frequent_are_shown_and_the_rest_counted():
    label = np.repeat(np.arange(30), np.arange(1, 31))
    crowd = Annotations.from_triples(np.arange(len(label)), np.zeros(len(label), int), label)
    text = printed(summarise(crowd))
    assert "18 more classes" in text
    rows = [line.split()[:2] for line in text.splitlines() if "█" in line]
    assert rows == [[str(c), str(c + 1)] for c in range(29, 17, -1)]
    assert "171" in text.split("18 more classes")[1]  # 1 + 2 + … + 18


def test_markup_and_control_characters_in_names_are_only_text():
    labels = ["[red]cat[/red]", "dog\x1b[31m\n"]
    text = printed(summarise(Annotations.from_triples([0, 1], ["a", "a"], labels)), "[bold]x\x07")
    assert "[red]cat[/red]" in text
    assert "[bold]x�" in text
    assert "\x1b" not in text
    assert "\x07" not in text
