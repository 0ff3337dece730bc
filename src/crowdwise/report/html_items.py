"""The items on the page: how sure the consensus is, where it leaves the majority, whom to ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdwise.report.html_charts import Bar, bars
from crowdwise.report.html_tables import Findings, shown

ITEMS = 200  # items worth a second look on the page
VOICES = 40  # of one item, the labels that are listed by name
FLOWS = 12  # changes of majority into consensus that have a bar of their own
SURE = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Votes:
    """Along the items: what the votes say, and what the consensus makes of them."""

    given: NDArray[np.int64]  # (N,) labels the item got
    most: NDArray[np.int64]  # (N,) votes of a leading class
    leaders: NDArray[np.int64]  # (N,) classes that lead
    majority: NDArray[np.int64]  # (N,) the leading class, the first of equals; -1 without labels
    consensus: NDArray[np.int64]  # (N,)
    agreeing: NDArray[np.int64]  # (N,) votes for the consensus
    probability: NDArray[np.float64]  # (N,) of the consensus

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """The consensus is no leading class."""
        return (self.given > 0) & (self.agreeing < self.most)

    @property
    def tied(self) -> NDArray[np.bool_]:
        return self.leaders > 1

    @property
    def least_sure(self) -> NDArray[np.int64]:
        """Labelled items, least probable consensus first; of equals, most votes against it."""
        against = 1 - self.agreeing / np.maximum(self.given, 1)
        order = np.lexsort((-against, self.probability))
        return order[self.given[order] > 0]


def count_votes(findings: Findings) -> Votes:
    """Put the votes beside the consensus."""
    crowd = findings.crowd
    codes = _codes(findings)
    votes = crowd.votes()  # sparse (N, C)
    item = np.repeat(np.arange(crowd.n_items), np.diff(votes.indptr))
    most = np.zeros(crowd.n_items, dtype=np.int64)
    np.maximum.at(most, item, votes.data)
    leads = votes.data == most[item]
    majority = np.full(crowd.n_items, -1, dtype=np.int64)
    majority[item[leads][::-1]] = votes.indices[leads][::-1]  # the first of equals is written last
    said = votes.indices == codes[item]
    agreeing = np.zeros(crowd.n_items, dtype=np.int64)
    agreeing[item[said]] = votes.data[said]
    return Votes(
        given=np.bincount(crowd.item, minlength=crowd.n_items),
        most=most,
        leaders=np.bincount(item[leads], minlength=crowd.n_items),
        majority=majority,
        consensus=codes,
        agreeing=agreeing,
        probability=findings.consensus["probability"].fill_null(0).to_numpy().astype(np.float64),
    )


def against_majority(findings: Findings, votes: Votes) -> dict[str, Any]:
    """How many items the consensus takes from the majority, and from which class to which."""
    labelled = votes.given > 0
    moved = votes.overruled & ~votes.tied
    size = len(findings.classes)
    pairs = Counter((votes.majority[moved] * size + votes.consensus[moved]).tolist())
    named = [
        (f"{findings.classes[pair // size]} → {findings.classes[pair % size]}", count)
        for pair, count in sorted(pairs.items(), key=lambda entry: (-entry[1], entry[0]))
    ]
    return {
        "labelled": int(labelled.sum()),
        "unlabelled": int((~labelled).sum()),
        "same": int((labelled & ~votes.tied & ~votes.overruled).sum()),
        "settled": int((votes.tied & ~votes.overruled).sum()),
        "beside_ties": int((votes.tied & votes.overruled).sum()),
        "moved": int(moved.sum()),
        "flows": bars(named)[:FLOWS],
        "more_flows": len(named[FLOWS:]),
        "more_items": sum(count for _, count in named[FLOWS:]),
    }


def sureness(votes: Votes) -> list[Bar]:
    """Items by the probability of their consensus."""
    at = np.searchsorted(SURE, votes.probability, side="right")
    names = [f"below {SURE[0]:.0%}"]
    names += [f"{low:.0%} to {high:.0%}" for low, high in pairwise(SURE)]
    names.append(f"{SURE[-1]:.0%} or more")
    return bars(list(zip(names, np.bincount(at, minlength=len(names)).tolist(), strict=True)))


def second_look(findings: Findings, votes: Votes) -> dict[str, Any]:
    """The items whose consensus is least sure, with their votes, for the page's script."""
    order = votes.least_sure[:ITEMS]
    counted = findings.crowd.votes()
    rows: dict[str, list[Any]] = {
        name: [] for name in ("item", "consensus", "probability", "votes", "why", "said", "voices")
    }
    names = findings.consensus["item"]
    for item in order.tolist():
        row = counted[[item]].tocoo()
        said = sorted(zip(row.data.tolist(), row.col.tolist(), strict=True), key=_most_first)
        rows["item"].append(shown(names[item]))
        rows["consensus"].append(findings.classes[votes.consensus[item]])
        rows["probability"].append(round(float(votes.probability[item]), 4))
        rows["votes"].append(" · ".join(f"{findings.classes[c]} {n}" for n, c in said))
        rows["why"].append(_why(votes, item))
        voices = _voices(findings, item)
        rows["said"].append(len(voices))
        rows["voices"].append(voices[:VOICES])
    return {"values": rows, "of": len(votes.least_sure)}


def _codes(findings: Findings) -> NDArray[np.int64]:
    """The consensus as places in the classes."""
    place = {str(name): code for code, name in enumerate(findings.config["classes"])}
    labels = findings.consensus["label"].to_list()
    return np.fromiter((place[str(label)] for label in labels), np.int64, len(labels))


def _most_first(vote: tuple[int, int]) -> tuple[int, int]:
    count, label = vote
    return -count, label


def _voices(findings: Findings, item: int) -> list[list[int]]:
    """Who said what of an item: [row of the annotators, class], in the annotators' order."""
    offsets, rows = findings.crowd.by_item
    chosen = rows[offsets[item] : offsets[item + 1]]
    who, what = findings.crowd.annotator[chosen].tolist(), findings.crowd.label[chosen].tolist()
    return sorted([r, c] for r, c in zip(who, what, strict=True))


def _why(votes: Votes, item: int) -> str:
    """What the consensus does to an item's votes, in a few words."""
    given, overruled = int(votes.given[item]), bool(votes.overruled[item])
    if given == 1:
        return "overrules the only vote" if overruled else "rests on one vote"
    agree = f"{int(votes.agreeing[item])} of {given} agree"
    if votes.tied[item]:
        return ("is outside a tie; " if overruled else "settles a tie; ") + agree
    return ("overrules the majority; " if overruled else "as the majority; ") + agree
