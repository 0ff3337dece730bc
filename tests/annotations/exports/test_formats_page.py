"""docs/formats.md shows what is really read: its examples are read here, its options exist."""

import re
from pathlib import Path

import pytest

from crowdwise.annotations.exports import FORMATS

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"
SECTIONS = {
    re.search("Format `([a-z-]+)`", section)[1]: section
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
}
SHOWN = {
    "label-studio": [(101, 7, "bird", False, 4.25)],
    "argilla": [("r1", "0b5f", "glad")],
    "prodigy": [(-1208, "ann", "CAT"), (-1208, "bob", "DOG")],
    "mturk": [("3AXE", "W1", "cat", 12.0), ("3AXE", "W2", "dog", 2.0)],
    "one-hot": [("eew5j0j", 1, "anger"), ("eew5j0j", 37, "joy")],
    "nested": [(0, 12, 1), (0, 7, 0), (1, 12, 1)],
    "wide": [("p1", "annotator_0", 1), ("p1", "annotator_2", 0), ("p2", "annotator_1", 0)],
}


@pytest.mark.parametrize("form", FORMATS.values(), ids=list(FORMATS))
def test_the_example_is_read_and_every_option_is_explained(form):
    section = SECTIONS[form.name]
    example = re.search(r"```\w+\n(.*?)```", section, re.DOTALL)[1].encode()
    assert form.detect(example, "example")
    assert form.parse(example, "example").rows() == SHOWN[form.name]
    explained = {
        option
        for line in re.findall(r"^\* (`.*?):", section, re.MULTILINE)
        for option in re.findall("`([a-z_]+)`", line)
    }
    assert explained == set(form.options)
