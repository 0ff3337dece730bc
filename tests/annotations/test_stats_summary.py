"""The summary holds plain numbers only, so that it can be written as strict JSON."""

import json

import numpy as np
import pytest

from crowdwise.annotations.summary import summarise
from crowdwise.annotations.table import Annotations


def strict_json(value: object) -> object:
    return json.loads(json.dumps(value, allow_nan=False))


@pytest.mark.parametrize("classes", [["cat", "dog"], [3, 4], [False, True]])
def test_any_kind_of_label_survives_json(classes):
    labels = np.array(classes)[[0, 0, 1, 0]]
    crowd = Annotations.from_triples([0, 0, 1, 1], list("abab"), labels)
    summary = summarise(crowd, {0: classes[0], 1: classes[1]})
    assert strict_json(summary) == summary
    assert [entry["class"] for entry in summary["class_balance"]] == classes
    assert summary["truth"] == {
        "items": 2,
        "labels": 4,
        "items_of_classes_nobody_named": 0,
        "nr1": 0.0,
        "nr2": 0.25,
        "annotators": 2,
        "annotator_accuracy": {"min": 0.5, "median": 0.75, "mean": 0.75, "max": 1.0},
    }


def test_what_is_not_defined_is_null():
    summary = summarise(Annotations.from_triples([0], ["ann"], ["cat"]), {})
    assert strict_json(summary) == summary
    assert summary["krippendorff_alpha"] is None
    assert summary["label_agreement"] is None
    assert summary["truth"]["nr1"] is None
    assert summary["truth"]["annotator_accuracy"]["min"] is None


def test_few_means_at_most_twenty_labels():
    annotator = np.repeat(["a", "b", "c"], [20, 21, 1])
    crowd = Annotations.from_triples(np.arange(42), annotator, np.zeros(42, int))
    per_annotator = summarise(crowd)["labels_per_annotator"]
    assert (per_annotator["at_most_20"], per_annotator["share_at_most_20"]) == (2, 2 / 3)
    assert (per_annotator["min"], per_annotator["median"], per_annotator["max"]) == (1, 20, 21)
