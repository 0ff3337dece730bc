"""Which columns hold the item, the annotator and the label: by their usual names, or as named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdwise.errors import InputError

# role -> names that mean it, and names that mean it when none of the first are there. Case,
# spaces, hyphens and underscores inside a name do not matter: HITId, hit_id and "HIT ID" are one.
USUAL: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "item": (
        ("item", "itemid", "task", "taskid", "example", "exampleid", "question", "questionid",
         "image", "imageid", "document", "documentid", "doc", "docid", "instance", "instanceid",
         "unit", "unitid", "object", "objectid", "sample", "sampleid", "hitid", "origid"),
        ("id",),
    ),
    "annotator": (
        ("annotator", "annotatorid", "worker", "workerid", "user", "userid", "rater", "raterid",
         "labeler", "labelerid", "labeller", "labellerid", "coder", "coderid", "judge", "judgeid",
         "amtworkerids", "amtworkerid", "performer"),
        ("username", "email"),
    ),
    "label": (
        ("label", "answer", "response", "annotation", "judgment", "judgement", "rating", "vote"),
        ("value", "class", "category"),
    ),
    "truth": (
        ("truth", "gold", "goldlabel", "true", "truelabel", "trueclass", "groundtruth", "target",
         "correct", "expert"),
        ("label", "class", "answer", "value", "category"),
    ),
}  # fmt: skip
OPTIONS = {"item": "--item", "annotator": "--annotator", "label": "--label"}
OF_TRUTH = {"item": "--truth-item", "truth": "--truth-label"}


def find_columns(
    names: Sequence[str], wanted: Mapping[str, str | None], source: str
) -> dict[str, str]:
    """The column of each wanted role: the one named, or the only one with a usual name.

    Example:
        >>> find_columns(["HITId", "WorkerId", "answer"], dict.fromkeys(["item", "label"]), "t.csv")
        {'item': 'HITId', 'label': 'answer'}
    """
    options = OF_TRUTH if "truth" in wanted else OPTIONS
    found = {
        role: _usual(names, role, source, options[role])
        if name is None
        else _named(names, role, name, source)
        for role, name in wanted.items()
    }
    for role, name in found.items():
        twice = [other for other in found if found[other] == name and other != role]
        if twice:
            raise InputError(
                f"{source}: the column {name!r} is taken for the {role} and for the {twice[0]}; "
                f"name another with {options[role]} or {options[twice[0]]} "
                f"(columns found: {listed(names)})"
            )
    return found


def _named(names: Sequence[str], role: str, name: str, source: str) -> str:
    if list(names).count(name) == 1:
        return name
    fault = "two columns are" if name in names else "no column is"
    raise InputError(
        f"{source}: {fault} named {name!r} for the {role}; columns found: {listed(names)}"
    )


def _usual(names: Sequence[str], role: str, source: str, option: str) -> str:
    for usual in USUAL[role]:
        matches = [name for name in names if _plain(name) in usual]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise InputError(
                f"{source}: {listed(matches)} could each be the {role}; choose with {option} COLUMN"
            )
    raise InputError(
        f"{source}: no column looks like the {role} (columns found: {listed(names)}); "
        f"name it with {option} COLUMN"
    )


def _plain(name: str) -> str:
    """Lower case without separators; a leading underscore stays: it marks a tool's own column."""
    letters = "".join(c for c in name.lower() if c.isalnum())
    return f"_{letters}" if name.startswith("_") else letters


def listed(names: Sequence[str], most: int = 12) -> str:
    """The names in quotes, the first dozen of them."""
    shown = [repr(name if len(name) <= 40 else f"{name[:37]}...") for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
