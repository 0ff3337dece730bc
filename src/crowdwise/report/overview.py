"""A crowd's summary for people: a few lines and a table of classes on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_CLASSES_SHOWN = 12
_BAR = 24  # characters of the longest bar


def show(summary: dict[str, Any], console: Console, name: str) -> None:
    """Print what `crowdwise.annotations.summary.summarise` says about the table called `name`."""
    block = "█" if console.encoding.startswith("utf") else "#"
    console.print(Text(plain(name), style="bold"))
    console.print(
        ", ".join(
            _count(summary[key], word)
            for key, word in (
                ("items", "item"),
                ("annotators", "annotator"),
                ("labels", "label"),
                ("classes", "class"),
            )
        ),
        highlight=False,
    )
    console.print()
    console.print(_facts(summary), highlight=False)
    console.print()
    console.print(_classes(summary["class_balance"], block), highlight=False)
    if "truth" in summary:
        console.print()
        console.print(_truth(summary["truth"]), highlight=False)
    if "figures" in summary:
        console.print()
        for path in summary["figures"]:
            console.print(Text(f"wrote {plain(path)}"), soft_wrap=True)


def _facts(summary: dict[str, Any]) -> Table:
    per_annotator = summary["labels_per_annotator"]
    few = per_annotator["at_most_20"]
    facts = _two_columns()
    facts.add_row("labels per annotator", _spread(per_annotator))
    facts.add_row(
        "",
        f"{few:,} of {_count(summary['annotators'], 'annotator')} "
        f"({_share(per_annotator['share_at_most_20'])}) gave at most 20",
    )
    facts.add_row("labels per item", _spread(summary["labels_per_item"]))
    agreement, alpha = summary["label_agreement"], summary["krippendorff_alpha"]
    facts.add_row(
        "agreement",
        "no item has two labels"
        if agreement is None
        else f"{_share(agreement)} of the pairs of labels on one item agree",
    )
    facts.add_row(
        "Krippendorff's alpha",
        "not defined" if alpha is None else f"{alpha:.3f} (1 is full agreement, 0 is chance)",
    )
    if summary["repeats_dropped"]:
        facts.add_row("repeats dropped", f"{summary['repeats_dropped']:,} identical labels")
    if summary["conflicts_settled"]:
        facts.add_row(
            "conflicts settled",
            f"{_count(summary['conflicts_settled'], 'time')} someone gave an item two labels",
        )
    return facts


def _classes(balance: list[dict[str, Any]], block: str) -> Table:
    """The classes in their own order; of very many, the most frequent."""
    shown = balance
    if len(balance) > _CLASSES_SHOWN:
        shown = sorted(balance, key=lambda entry: -entry["labels"])[:_CLASSES_SHOWN]
    most = max((entry["share"] for entry in shown), default=0) or 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("class", max_width=30, no_wrap=True, overflow="ellipsis")
    table.add_column("labels", justify="right")
    table.add_column("share", justify="right")
    table.add_column("")
    for entry in shown:
        bar = block * round(_BAR * entry["share"] / most)
        table.add_row(
            Text(plain(str(entry["class"]))),
            f"{entry['labels']:,}",
            _share(entry["share"]),
            Text(bar, style="blue"),
        )
    if len(shown) < len(balance):
        labels = sum(e["labels"] for e in balance) - sum(e["labels"] for e in shown)
        share = sum(e["share"] for e in balance) - sum(e["share"] for e in shown)
        left = len(balance) - len(shown)
        table.add_row(f"{left:,} more classes", f"{labels:,}", _share(share), "")
    return table


def _truth(truth: dict[str, Any]) -> Table:
    facts = _two_columns()
    known = f"{_count(truth['items'], 'item')} with {_count(truth['labels'], 'label')}"
    facts.add_row("truth known for", known)
    strange = truth["items_of_classes_nobody_named"]
    if strange:
        facts.add_row("", f"{strange:,} of them of a class that no annotator ever named")
    if truth["nr1"] is not None and truth["nr2"] is not None:
        facts.add_row("NR1", f"{_share(truth['nr1'], 2)} of these items: nobody named the truth")
        facts.add_row("NR2", f"{_share(truth['nr2'], 2)} of these labels are wrong")
        accuracy = truth["annotator_accuracy"]
        facts.add_row(
            "annotators' accuracy",
            ", ".join(f"{word} {_share(accuracy[word])}" for word in ("min", "median", "max")),
        )
    return facts


def plain(text: str) -> str:
    """`text` on one line, without control characters a terminal would obey."""
    return "".join(character if character.isprintable() else "�" for character in text)


def _two_columns() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    return table


def _spread(values: dict[str, Any]) -> str:
    if values["min"] is None:
        return "none"
    return (
        f"min {values['min']:,}, median {values['median']:,.12g}, "
        f"mean {values['mean']:,.1f}, max {values['max']:,}"
    )


def _share(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f}%"


def _count(n: int, word: str) -> str:
    plural = "classes" if word == "class" else word + "s"
    return f"{n:,} {word if n == 1 else plural}"
