"""docs/results/consensus.md, from the finished cells of benchmarks/consensus.py."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crowdwise.files import write_text
from crowdwise.reproduce.machine import machine

PAGE = Path("docs/results/consensus.md")
NAMES = {
    "majority": "majority vote",
    "crowd-kit": "crowd-kit 1.4.1, Dawid-Skene",
    "crowdlab": "cleanlab 2.9.0, CROWDLAB",
    "aggregate": "`crowdwise aggregate`",
    "grouped": "`crowdwise aggregate --method grouped-dawid-skene`",
    "fit": "**`crowdwise fit`**",
}
TITLES = {
    "music": "MUSIC",
    "labelme": "LabelMe",
    "rte-text": "RTE",
    "cifar10n": "CIFAR-10N",
}
OTHERS = ("majority", "crowd-kit", "crowdlab")

HEAD = """# Consensus and classifier beside others

    CROWDWISE_DATA=… python -m benchmarks.consensus

Share of right answers in percent; nothing is tuned per data set. *Consensus*: the labelled items,
their truth hidden from everyone; ties of majority vote count as their expected share. *Classifier*:
items of the test set, which nobody labelled. Means over seeds of the classifiers (± standard
deviation, n - 1); the crowds are what they are. Seeds: {seeds}.
Machine: {machine}, one thread.

* `crowdwise fit` is the command with its defaults: the consensus column is its `consensus_`, the
  classifier column its prediction.
* For the other rows the classifier is the same net with the same defaults, trained on the row's
  consensus (majority vote: on the votes, ties drawn by the seed).
* CROWDLAB gets the out-of-sample probabilities it needs from that majority-vote classifier,
  cross-validated in five folds.
* crowd-kit's Dawid-Skene runs at most 100 steps with its own stopping rule.
"""

DATA = """
MUSIC: 700 pieces and 300 for test, raw features. LabelMe: 1,000 images and 1,188 for test, VGG-16
features, no augmentation. RTE: 600 pairs of sentences and 200 for test (every fourth pair, its
labels kept back), TF-IDF components: features that hardly tell the classes. CIFAR-10N: 45,000
images and 10,000 for test, 256 frozen features; its annotators cannot be told apart by their
errors. One item is 0.14 points of MUSIC's consensus, 0.10 of LabelMe's, 0.17 of RTE's.
"""


def write(cells: Sequence[dict[str, Any]]) -> None:
    """The page, with every difference to the best of the others said in words."""
    with_features = [name for name in TITLES if any(c["data"] == name for c in cells)]
    counted = {name: len(_values(cells, name, "fit", "consensus")) for name in with_features}
    seeds = ", ".join(f"{TITLES[name]} {count}" for name, count in counted.items())
    parts = [HEAD.format(machine=machine(), seeds=seeds)]
    for measure in ("consensus", "classifier"):
        parts.append(f"\n## {measure.capitalize()}, with features\n\n")
        parts.append(_table(cells, with_features, measure))
        parts.append("\n" + _verdict(cells, with_features, measure))
    parts.append(DATA)
    alone = list(dict.fromkeys(c["data"] for c in cells if "seed" not in c))
    if alone:
        parts.append("\n## Consensus from the labels alone\n\n")
        parts.append(
            "`crowdwise aggregate` with its default method; no features, so no CROWDLAB.\n\n"
        )
        parts.append(_table(cells, alone, "consensus"))
    write_text(PAGE, "".join(parts))
    print(f"wrote {PAGE}")


def _values(cells: Sequence[dict[str, Any]], data: str, row: str, measure: str) -> list[float]:
    return [100 * c[measure] for c in cells if c["data"] == data and c["row"] == row]


def _table(cells: Sequence[dict[str, Any]], data: Sequence[str], measure: str) -> str:
    lines = ["| | " + " | ".join(TITLES.get(name, name) for name in data) + " |"]
    lines.append("|---|" + "---:|" * len(data))
    for row, name in NAMES.items():
        columns = [_values(cells, each, row, measure) for each in data]
        if any(columns):
            lines.append(f"| {name} | " + " | ".join(map(_cell, columns)) + " |")
    return "\n".join(lines) + "\n"


def _cell(values: list[float]) -> str:
    if not values:
        return "–"
    text = f"{statistics.mean(values):.2f}"
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{text} ± {spread:.2f}" if spread > 0 else text


def _verdict(cells: Sequence[dict[str, Any]], data: Sequence[str], measure: str) -> str:
    """How far `fit` is ahead of, or behind, the best of the others on each data set."""
    lines = []
    for name in data:
        ours = _values(cells, name, "fit", measure)
        theirs = {row: _values(cells, name, row, measure) for row in OTHERS}
        theirs = {row: values for row, values in theirs.items() if values}
        if not ours or not theirs:
            continue
        best = max(theirs, key=lambda row: statistics.mean(theirs[row]))
        lead = statistics.mean(ours) - statistics.mean(theirs[best])
        place = "ahead of" if lead > 0 else "behind" if lead < 0 else "level with"
        by = f" by {abs(lead):.2f}" if lead else ""
        lines.append(
            f"* {TITLES[name]}: `fit` is {place} the best of the others ({NAMES[best]}){by}."
        )
    return "\n".join(lines) + "\n"
