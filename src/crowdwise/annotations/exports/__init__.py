"""What annotation tools export, read into frames of item, annotator and label."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import Any

import polars as pl

from crowdwise.annotations.exports import (
    argilla,
    label_studio,
    mturk,
    nested,
    one_hot,
    prodigy,
    wide,
)


@dataclass(frozen=True)
class Format:
    """One shape of table: `detect` guesses it from its first kilobytes, `parse` reads it.

    `parse(raw, name, **options)` gives the columns item, annotator (String or Int64) and label
    (String, Int64 or Boolean), none with nulls; some formats add gold (Boolean) or seconds
    (Float64, null where not measured). `name` is the file's name for messages.

    Example:
        >>> FORMATS["nested"].parse(b'{"7": {"ann": "cat"}}', "crowd.json").rows()
        [(7, 'ann', 'cat')]
        >>> dict(FORMATS["label-studio"].options)
        {'from_name': None, 'predictions': False}
    """

    name: str
    summary: str
    detect: Callable[[bytes, str], bool]
    parse: Callable[..., pl.DataFrame]

    @property
    def options(self) -> Mapping[str, Any]:
        """The keyword options of `parse` and their defaults."""
        return {
            name: parameter.default
            for name, parameter in inspect.signature(self.parse).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }


def _format(name: str, summary: str, module: ModuleType) -> tuple[str, Format]:
    return name, Format(name, summary, module.detect, module.parse)


# In the order in which they are guessed: the ones with unmistakable marks first.
FORMATS: Mapping[str, Format] = MappingProxyType(
    dict(
        [
            _format("label-studio", "Label Studio: JSON with annotations[].result", label_studio),
            _format("argilla", "Argilla: flattened records, JSON or JSON lines", argilla),
            _format("prodigy", "Prodigy: JSON lines with _input_hash and answer", prodigy),
            _format("mturk", "Mechanical Turk: batch results, CSV", mturk),
            _format("one-hot", "one 0/1 column per class (GoEmotions), CSV or TSV", one_hot),
            _format("nested", "JSON {item: {annotator: label}} (peerannot)", nested),
            _format("wide", "one column per annotator, CSV or TSV (cleanlab)", wide),
        ]
    )
)

__all__ = ["FORMATS", "Format"]
