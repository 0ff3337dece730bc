"""A truth file: what the items really are, where someone knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdwise.annotations.exports import label_studio
from crowdwise.annotations.kinds import as_kind_of, kind_name
from crowdwise.annotations.source import Source, open_source
from crowdwise.annotations.tabular import kind_of_table, read_table
from crowdwise.annotations.vocabulary import Coded, Where, encode
from crowdwise.errors import InputError

if TYPE_CHECKING:
    from crowdwise.annotations.table import Annotations


def read_truth(
    path: str | os.PathLike[str],
    annotations: Annotations | None = None,
    item: str | None = None,
    label: str | None = None,
) -> dict[Any, Any]:
    """Item id -> true label, from a table with an item and a truth (label, gold) column.

    With `annotations`, ids and labels come in their kind, and only their items are kept.

    Args:
        path: CSV, TSV, JSON lines or Parquet, gzip of one, or `-` for standard input; or Label
            Studio's JSON, of which the annotations marked as ground truth are taken.
        annotations: the crowd whose truth this is.
        item, label: column names; found by their usual names when None. In Label Studio's JSON
            `label` is the question (from_name).
    """
    source = open_source(path)
    if label_studio.detect(source.head(), source.name):
        columns, where = _marked_as_gold(source, label)
    else:
        columns, where = read_table(source, kind_of_table(source), {"item": item, "truth": label})
    (items, ids), (labels, classes) = columns["item"], columns["truth"]
    rows, first = np.unique(items, return_index=True)
    contradicting = np.flatnonzero(labels != labels[first][np.searchsorted(rows, items)])
    if len(contradicting):
        row = int(contradicting[0])
        before = int(first[items[row]])
        raise InputError(
            f"{where(row)}: item {ids[items[row]]} is {classes[labels[row]]} here and "
            f"{classes[labels[before]]} before ({where(before)}); an item has one truth"
        )
    names, values = ids.tolist(), classes[labels[first]].tolist()
    if annotations is None:
        return dict(zip(names, values, strict=True))
    known = set(annotations.item_ids.tolist())
    pairs = zip(as_kind_of(names, annotations.item_ids), values, strict=True)
    covered = {name: value for name, value in pairs if name in known}
    if not covered:
        raise InputError(
            f"{source.name}: none of its {len(names)} items (such as {names[0]!r}) is in the "
            f"crowd's table (items such as {annotations.item_ids[:1].tolist()[0]!r}); "
            "give the truth of these items, or name the id column with --truth-item"
        )
    converted = as_kind_of(covered.values(), annotations.classes)
    _check_classes(source.name, dict(zip(covered, converted, strict=True)), annotations)
    return dict(zip(covered, converted, strict=True))


def _marked_as_gold(source: Source, question: str | None) -> tuple[dict[str, Coded], Where]:
    answers = label_studio.parse(source.read(), source.name, from_name=question)
    gold = answers.filter("gold")
    if gold.is_empty():
        raise InputError(
            f"{source.name}: no annotation is marked as ground truth; mark some in Label Studio, "
            "or give the truth as a table"
        )

    def where(row: int) -> str:
        return f"{source.name}, ground truth {row + 1}"

    item, label = encode(gold["item"], "item", where), encode(gold["label"], "truth", where)
    return {"item": item, "truth": label}, where


def _check_classes(name: str, truth: dict[Any, Any], annotations: Annotations) -> None:
    classes = annotations.classes.tolist()
    kinds = {(type(entry), entry) for entry in classes}  # True is no 1
    for item, value in truth.items():
        if (type(value), value) not in kinds:
            shown = ", ".join(str(entry) for entry in classes[:8])
            raise InputError(
                f"{name}: item {item!r} is {value!r}, which is not among the crowd's classes "
                f"({kind_name(annotations.classes)}: {shown}{', ...' if len(classes) > 8 else ''});"
                " repair the truth, or name every class of the crowd's table (--classes)"
            )
