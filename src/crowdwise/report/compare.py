"""Runs beside each other: settings that differ, scores, and the items they answer differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from crowdwise.annotations.truth import read_truth
from crowdwise.errors import InputError
from crowdwise.report.html import settings
from crowdwise.results.run import Run

SHOWN = 20  # items listed; all are counted
COLUMNS = ("item", "label", "probability")


def compare_runs(
    folders: Sequence[str],
    truth: str | None = None,
    truth_item: str | None = None,
    truth_label: str | None = None,
) -> dict[str, Any]:
    """Everything `crowdwise compare` says, as plain values.

    Items meet as text: 7 in one run is "7" in another.
    """
    if len(folders) < 2:
        raise InputError("one run has nothing to be compared with; name two or more")
    twice = [name for name in folders if list(folders).count(name) > 1]
    if twice:
        raise InputError(f"{twice[0]}: is named twice; name different runs")
    runs = [Run.open(folder) for folder in folders]
    tables = [_consensus(run) for run in runs]
    known = None if truth is None else read_truth(truth, item=truth_item, label=truth_label)
    rows = []
    for folder, run, table in zip(folders, runs, tables, strict=True):
        row = {"run": folder, "items": len(table), "epochs": len(run.history)}
        row["sure"] = float((table["probability"] >= 0.9).mean() or 0.0)  # type: ignore[arg-type]
        if known is not None:
            row |= _scores(table, known, folder, str(truth))
        rows.append(row)
    joined = reduce(lambda a, b: a.join(b, on="item"), _named(tables))
    labels = [f"label {k}" for k in range(len(runs))]
    pairs = [
        {
            "runs": [folders[a], folders[b]],
            "items": len(both := tables[a].join(tables[b], on="item")),
            "agree": _share(both["label"] == both["label_right"]),
        }
        for a, b in combinations(range(len(runs)), 2)
    ]
    same = pl.all_horizontal([pl.col(labels[0]) == pl.col(name) for name in labels[1:]])
    least = pl.min_horizontal([f"probability {k}" for k in range(len(runs))])
    differing = joined.filter(~same).sort(least, "item", descending=[True, False])
    return {
        "runs": rows,
        "settings": differing_settings([run.config for run in runs]),
        "pairs": pairs,
        "common_items": len(joined),
        "disagreements": len(differing),
        "items": [
            {
                "item": row["item"],
                "labels": [row[name] for name in labels],
                "probabilities": [row[f"probability {k}"] for k in range(len(runs))],
                **({} if known is None else {"truth": _text_keys(known).get(row["item"])}),
            }
            for row in differing[:SHOWN].iter_rows(named=True)
        ],
    }


def differing_settings(configs: Sequence[Mapping[str, Any]]) -> dict[str, list[str | None]]:
    """Settings whose values are not the same in all runs; None where a run has no such setting.

    Example:
        >>> differing_settings([{"settings": {"lr": 0.1, "seed": 0}}, {"settings": {"lr": 0.2}}])
        {'lr': ['0.1', '0.2'], 'seed': ['0', None]}
    """
    each = [dict(settings(dict(config))) for config in configs]
    names = dict.fromkeys(name for one in each for name in one)
    values = {name: [one.get(name) for one in each] for name in names}
    return {name: said for name, said in values.items() if len(set(said)) > 1}


def show_comparison(found: Mapping[str, Any], console: Console) -> None:
    """The comparison for people; runs are called A, B, … below the first table."""
    letters = [chr(65 + k) if k < 26 else f"run {k + 1}" for k in range(len(found["runs"]))]
    scored = [name for name in ("consensus", "classifier") if name in found["runs"][0]]
    runs = Table("", "run", "items", "at 90% or more", *(f"{name} right" for name in scored))
    for letter, row in zip(letters, found["runs"], strict=True):
        scores = ["–" if row[name] is None else f"{row[name]:.1%}" for name in scored]
        runs.add_row(letter, Text(row["run"]), f"{row['items']:,}", f"{row['sure']:.0%}", *scores)
    console.print(runs)
    if found["settings"]:
        table = Table("setting", *letters)
        for name, values in found["settings"].items():
            table.add_row(Text(name), *(Text("–" if v is None else v) for v in values))
        console.print(table)
    else:
        console.print(Text("the settings are the same"))
    of_run = {row["run"]: letter for letter, row in zip(letters, found["runs"], strict=True)}
    for pair in found["pairs"]:
        a, b = (of_run[name] for name in pair["runs"])
        said = "no item in common" if pair["agree"] is None else f"agree on {pair['agree']:.1%}"
        console.print(Text(f"{a} and {b} {said} of {pair['items']:,} items they share"))
    if not found["items"]:
        return
    rest = found["disagreements"] - len(found["items"])
    more = f"; the {len(found['items'])} they are surest of" if rest else ""
    console.print(Text(f"items answered differently: {found['disagreements']:,}{more}"))
    has_truth = "truth" in found["items"][0]
    items = Table("item", *letters, *(["truth"] if has_truth else []))
    for row in found["items"]:
        cells = [f"{y} {p:.0%}" for y, p in zip(row["labels"], row["probabilities"], strict=True)]
        last = [Text(row["truth"] or "–")] if has_truth else []
        items.add_row(Text(row["item"]), *map(Text, cells), *last)
    console.print(items)


def _consensus(run: Run) -> pl.DataFrame:
    if not run.done:
        raise InputError(f"{run.folder}: the run is not finished; let it end, or train again")
    path = Path(run.folder) / "consensus.parquet"
    try:
        table = pl.read_parquet(path)
        wanted = [*COLUMNS, *(["classifier"] if "classifier" in table.columns else [])]
        text = [pl.col(name).cast(pl.String) for name in wanted if name != "probability"]
        return table.select(*text, pl.col("probability").cast(pl.Float64))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InputError(f"{path}: cannot be read ({error}); the run is damaged") from error


def _named(tables: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    return [
        table.select("item", *(pl.col(name).alias(f"{name} {k}") for name in COLUMNS[1:]))
        for k, table in enumerate(tables)
    ]


def _scores(
    table: pl.DataFrame, known: Mapping[Any, Any], folder: str, truth: str
) -> dict[str, float | None]:
    answers = _text_keys(known)
    asked = table.filter(pl.col("item").is_in(list(answers)))
    if asked.is_empty():
        raise InputError(
            f"{truth}: none of its {len(answers)} items (such as {next(iter(answers), '')!r}) is "
            f"in {folder} (items such as {table['item'][0]!r}); give the truth of these items"
        )
    true = pl.Series([answers[item] for item in asked["item"]])
    by_itself = _share(asked["classifier"] == true) if "classifier" in asked.columns else None
    right = _share(asked["label"] == true)
    return {"asked": len(asked), "consensus": right, "classifier": by_itself}


def _text_keys(known: Mapping[Any, Any]) -> dict[str, str]:
    return {str(item): _text(label) for item, label in known.items()}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _share(flags: pl.Series) -> float | None:
    return float(flags.mean()) if len(flags) else None  # type: ignore[arg-type]
