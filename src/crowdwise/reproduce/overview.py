"""Many tables at a glance: methods against places, and by how much CCC leads and what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crowdwise.reproduce.paper import NAMES
from crowdwise.results.table import Row, Spread, markdown

OURS, WEAK = NAMES["ccc"], (NAMES["major-vote"], NAMES["crowd-layer"])
RULES = {"last": "At the last epoch", "oracle": "At the oracle epoch"}


class Lead(NamedTuple):
    """How far CCC is ahead of another in one place, ours and the paper's; last epoch, percent."""

    place: str
    other: str
    ours: float
    paper: float | None


def grid(rows: Sequence[Row], rule: str) -> str:
    """Methods down, places across: the pair's accuracy, the paper's in brackets."""
    places = list(dict.fromkeys(row.place for row in rows))
    shared = _shared([row.dataset for row in rows])
    found = {(row.name, row.place): row for row in rows}
    names = list(dict.fromkeys(row.name for row in rows))
    head = ["method", *(_short(place, shared) for place in places)]
    body = [[name, *(_cell(found.get((name, p)), rule) for p in places)] for name in names]
    return markdown(head, body)


def leads(rows: Sequence[Row]) -> list[Lead]:
    """CCC against every other method that its places have."""
    by_place: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_place.setdefault(row.place, {})[row.name] = row
    return [
        Lead(place, name, _lead(methods, name, "pair"), _paper_lead(methods, name))
        for place, methods in by_place.items()
        if OURS in methods
        for name in methods
        if name != OURS
    ]


def pattern(rows: Sequence[Row]) -> str:
    """A line per place: CCC's lead at the last epoch, and what each loses from oracle to last."""
    shared = _shared([row.dataset for row in rows])
    by_place: dict[str, list[Lead]] = {}
    for lead in leads(rows):
        by_place.setdefault(lead.place, []).append(lead)
    found = {(row.place, row.name): row for row in rows}
    body = []
    for place, against in by_place.items():
        nearest = min(against, key=lambda lead: lead.ours)
        lead_over = {lead.other: lead for lead in against}
        body.append(
            [
                _short(place, shared),
                *(_signed(lead_over.get(name)) for name in WEAK),
                f"{_signed(nearest)}, {nearest.other}",
                *(_drop(found.get((place, name))) for name in (*WEAK, OURS)),
            ]
        )
    head = ["crowd", *(f"over {name}" for name in WEAK), "over the nearest"]
    return markdown([*head, *(f"{name} loses" for name in (*WEAK, OURS))], body)


def _cell(row: Row | None, rule: str) -> str:
    if row is None or f"pair, {rule}" not in row.scores:
        return ""
    beside = row.scores.get(f"paper, {rule}")
    text = f"{row.scores[f'pair, {rule}'].mean:.1f}"
    return text + (f" ({beside.mean:.1f})" if beside else "")


def _lead(methods: Mapping[str, Row], other: str, whose: str) -> float:
    ours, theirs = (methods[name].scores[f"{whose}, last"].mean for name in (OURS, other))
    return ours - theirs


def _paper_lead(methods: Mapping[str, Row], other: str) -> float | None:
    known = all("paper, last" in methods[name].scores for name in (OURS, other))
    return _lead(methods, other, "paper") if known else None


def _signed(lead: Lead | None) -> str:
    if lead is None:
        return ""
    return f"{lead.ours:+.2f}" + (f" ({lead.paper:+.2f})" if lead.paper is not None else "")


def _drop(row: Row | None) -> str:
    """From oracle to last, ours and the paper's."""
    if row is None:
        return ""
    texts = []
    for whose in ("pair", "paper"):
        both: list[Spread] = [
            row.scores[key] for rule in RULES if (key := f"{whose}, {rule}") in row.scores
        ]
        if len(both) == 2:
            texts.append(f"{both[1].mean - both[0].mean:.1f}")
    return texts[0] + (f" ({texts[1]})" if len(texts) == 2 else "")


def _shared(datasets: Sequence[str]) -> str:
    """The data set all rows are of, which then needs no telling; or nothing."""
    return datasets[0] if len(set(datasets)) == 1 else ""


def _short(place: str, shared: str) -> str:
    return place.removeprefix(f"{shared}, ") if shared else place
