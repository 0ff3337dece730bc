"""What a training run says in the terminal: what it read and chose, and what it found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

SHOWN = 5  # annotators named at either end, suspects named
WHOSE = {
    "agreement": "classifier and crowd agree",
    "classifier": "the classifier's word against the crowd's",
    "crowd": "the crowd's word against the classifier's",
    "both": "neither's first word, but the best for both",
    "gold": "known answers",
}


class Sizes(NamedTuple):
    """What was read."""

    items: int
    labelled: int
    labels: int
    heard: int  # annotators with labels
    classes: int
    input: tuple[int, ...]  # shape of one item


def show_settings(
    settings: Mapping[str, Any],
    method: str,
    net: str,
    given: Collection[str],
    sizes: Sizes,
    console: Console,
) -> None:
    """The data in a line, then every setting with its reason."""
    line = f"{sizes.labels:,} labels by {sizes.heard:,} annotators on {sizes.labelled:,} items"
    if sizes.items > sizes.labelled:
        line += f" of {sizes.items:,}; the others get predictions"
    console.print(Text(line))
    table = Table("setting", "value", "because", box=None, pad_edge=False)
    rows = {"method": method, "net": net, **settings}
    reasons = because(settings, net, sizes)
    for name, value in rows.items():
        reason = "given" if name in given else reasons.get(name, "default")
        table.add_row(name, Text(_plain(value)), Text(reason))
    console.print(table)


def because(settings: Mapping[str, Any], net: str, sizes: Sizes) -> dict[str, str]:
    """Why the settings that follow the data are what they are: in numbers, not in formulas."""
    vectors = len(sizes.input) == 1
    batches = -(-sizes.labelled // max(int(settings.get("batch_size", 1)), 1))
    updates = batches * int(settings.get("epochs", 0))
    shape = "×".join(map(str, sizes.input))
    kind = f"items are {shape} numbers" if vectors else f"items are images of {shape}"
    reasons = {
        "epochs": f"{updates:,} updates: {batches:,} batches an epoch",
        "lr": f"default for {'vectors' if vectors else 'images'}",
        "active": f"default for {'vectors' if vectors else 'images'}",
        "n_models": "a pair errs less than one",
    }
    if net == "auto":
        reasons["net"] = f"{'mlp' if vectors else 'cnn'}: {kind}"
    if "warmup_epochs" in settings:
        share = settings["warmup_epochs"] / max(int(settings.get("epochs", 0)), 1)
        reasons["warmup_epochs"] = f"{share:.0%} of the epochs"
    if "n_groups" in settings:
        reasons["n_groups"] = f"{sizes.heard:,} annotators gave labels"
    if "meta_size" in settings:
        share = settings["meta_size"] / max(sizes.labelled, 1)
        reasons["meta_size"] = f"{share:.0%} of the labelled items"
    return reasons


def show_trained(
    consensus: pl.DataFrame,
    annotators: pl.DataFrame,
    truth: Mapping[Any, Any] | None,
    gold: bool,
    folder: str,
    console: Console,
) -> None:
    """Whose word the consensus is, the best and worst annotators, suspects, and where all is."""
    sure = int((consensus["probability"] >= 0.9).sum())
    console.print(Text(f"{_items(len(consensus))}, {sure:,} of them at 90% or more"))
    counts = consensus.filter(pl.col("votes") > 0)["decided_by"].value_counts()
    decided = dict(counts.iter_rows())
    words = [f"{decided[by]:,}: {said}" for by, said in WHOSE.items() if by in decided]
    if unlabelled := int((consensus["votes"] == 0).sum()):
        words.append(f"{unlabelled:,}: nobody's label, a prediction")
    for line in words:
        console.print(Text(f"  {line}"))
    if truth and not gold:
        for line in against(consensus, truth):
            console.print(Text(line))
    heard = annotators.filter(pl.col("labels") > 0).sort("cost", descending=False)
    table = Table("annotator", "labels", "accuracy", "95% interval", "bias", "cost")
    best, worst = heard[:SHOWN], heard[max(SHOWN, len(heard) - SHOWN) :]
    _add(table, best)
    if (rest := len(heard) - len(best) - len(worst)) > 0:
        table.add_row(Text(f"… {rest} more in annotators.csv"), *[""] * 5)
    _add(table, worst)
    console.print(table)
    console.print(Text("cost: 0, every label informs fully; 1, none tells anything"))
    show_suspects(heard.filter(pl.col("suspected_spammer")), console)
    console.print(Text(f"wrote {folder}; open {folder}/report.html"), soft_wrap=True)


def show_suspects(suspects: pl.DataFrame, console: Console) -> None:
    """Who may be a spammer and why, those with most labels first."""
    if suspects.is_empty():
        console.print(Text("nobody is suspected of spam"))
        return
    console.print(Text(f"suspected of spam: {len(suspects)} of the annotators"))
    for row in suspects.sort("labels", descending=True)[:SHOWN].iter_rows(named=True):
        console.print(Text(f"  {row['annotator']}: {row['reason']}"), soft_wrap=True)
    if len(suspects) > SHOWN:
        console.print(Text(f"  … {len(suspects) - SHOWN} more in annotators.csv"))


def against(consensus: pl.DataFrame, truth: Mapping[Any, Any]) -> list[str]:
    """How often consensus, classifier and crowd are right where the truth is known.

    Example:
        >>> frame = pl.DataFrame({"item": [1, 2], "label": ["a", "b"], "classifier": ["a", "a"]})
        >>> against(frame.with_columns(crowd=pl.lit("b")), {2: "b"})[0]
        'consensus right on 1 of 1 item with known truth (100.0%)'
    """
    known = consensus.filter(pl.col("item").is_in(list(truth)))
    answers = [truth[item] for item in known["item"]]
    lines = []
    for who, column in (("consensus", "label"), ("classifier", "classifier"), ("crowd", "crowd")):
        said = [(word, answer) for word, answer in zip(known[column], answers, strict=True)]
        said = [pair for pair in said if pair[0] is not None]
        right = sum(word == answer for word, answer in said)
        share = f" ({right / len(said):.1%})" if said else ""
        alone = " with known truth" if who == "consensus" else ", by itself"
        lines.append(f"{who} right on {right:,} of {_items(len(said))}{alone}{share}")
    return lines


def _add(table: Table, annotators: pl.DataFrame) -> None:
    for row in annotators.iter_rows(named=True):
        interval = f"{row['accuracy_low']:.0%} to {row['accuracy_high']:.0%}"
        numbers = (f"{row['labels']:,}", f"{row['accuracy']:.0%}", interval)
        table.add_row(
            Text(str(row["annotator"])), *numbers, f"{row['bias']:.2f}", f"{row['cost']:.2f}"
        )


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _items(n: int) -> str:
    return "1 item" if n == 1 else f"{n:,} items"
