"""Inputs and the crowd's labels on one device, cut into batches without a loop over items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from crowdwise.annotations import Annotations
from crowdwise.batches.mapped import source_of
from crowdwise.batches.source import Source
from crowdwise.errors import InputError

AT_ONCE = 2**18  # items whose labels are gathered together


class CrowdShape(NamedTuple):
    """The sizes a method is built for."""

    input: tuple[int, ...]  # of one item
    n_annotators: int
    n_classes: int


@dataclass(frozen=True)
class CrowdBatch:
    """B items and their observed labels, flat: label[l] was given by annotator[l] to x[row[l]]."""

    x: Tensor  # (B, …)
    item: Tensor  # (B,) which items of the training set
    row: Tensor  # (L,) ascending, 0 … B-1
    annotator: Tensor  # (L,)
    label: Tensor  # (L,)

    def __len__(self) -> int:
        return len(self.item)


class CrowdData:
    """A training set: row i of `x` describes item i of `annotations`.

    Example:
        >>> crowd = Annotations.from_triples([0, 0, 1], ["ann", "bob", "bob"], [1, 0, 1])
        >>> data = CrowdData(np.eye(2, dtype=np.float32), crowd)
        >>> [batch.annotator.tolist() for batch in data.epoch(torch.tensor([1, 0]), 1)]
        [[1], [0, 1]]
    """

    def __init__(
        self,
        x: np.ndarray | Tensor | Source,
        annotations: Annotations,
        device: torch.device | str = "cpu",
    ) -> None:
        self.source = source_of(x, device)
        if len(self.source) != annotations.n_items:
            raise InputError(
                f"{len(self.source)} rows of features, but the crowd labelled items out of "
                f"{annotations.n_items}; give one row per item, in the order of item_ids"
            )
        if len(annotations) == 0:
            raise InputError("the crowd gave no label at all; there is nothing to learn from")
        if (bad := self.source.not_finite()) is not None:
            raise InputError(
                f"item {annotations.item_ids[bad]}: its features (row {bad}) hold NaN or infinity; "
                "fill them in or drop the item"
            )
        offsets, order = annotations.by_item
        self.annotations = annotations
        self.device = torch.device(device)
        self.offsets = torch.as_tensor(np.array(offsets), device=device)  # (N+1,)
        self.annotator = self._codes(annotations.annotator[order])  # (L,) sorted by item
        self.label = self._codes(annotations.label[order])
        self.labelled = (self.offsets.diff() > 0).nonzero()[:, 0]  # items with a label

    @property
    def shape(self) -> CrowdShape:
        crowd = self.annotations
        return CrowdShape(self.source.item_shape, crowd.n_annotators, crowd.n_classes)

    def __len__(self) -> int:
        return len(self.source)

    def x(self, item: Tensor) -> Tensor:
        """Inputs of the items with these numbers, as floats on the device."""
        return self.source.take(item)

    def epoch(self, order: Tensor, batch_size: int) -> Iterator[CrowdBatch]:
        """Batches over the items in `order`; labels are gathered for many batches at once."""
        many = max(1, AT_ONCE // batch_size) * batch_size
        for start in range(0, len(order), many):
            yield from self._batches(order[start : start + many], batch_size)

    def _batches(self, order: Tensor, batch_size: int) -> Iterator[CrowdBatch]:
        counts = self.offsets.diff()[order]
        ends = counts.cumsum(0)
        total = int(ends[-1])
        # label l of the epoch lies at: start of its item + its place within the item
        place = torch.arange(total, device=self.device)
        place += (self.offsets[order] - (ends - counts)).repeat_interleave(counts)
        annotator, label = self.annotator[place], self.label[place]
        position = torch.arange(len(order), device=self.device).repeat_interleave(counts)
        row = position % batch_size
        last = torch.arange(batch_size, len(order) + batch_size, batch_size).clamp(max=len(order))
        bounds = [0, *ends[last.to(self.device) - 1].tolist()]
        inputs = self.source.batches(order, batch_size)
        for b, (item, x) in enumerate(zip(torch.split(order, batch_size), inputs, strict=True)):
            labels = slice(bounds[b], bounds[b + 1])
            yield CrowdBatch(x, item, row[labels], annotator[labels], label[labels])

    def inputs(self, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """(item, x) over all items in order, for evaluation."""
        order = torch.arange(len(self), device=self.device)
        return zip(
            torch.split(order, batch_size), self.source.batches(order, batch_size), strict=True
        )

    def hold_out(self, share: float = 0.1, seed: int = 0) -> tuple[CrowdData, CrowdData]:
        """All labels of some labelled items set aside: (for training, for validation).

        Both keep every item's place and share the inputs. Agreement with the labels held out
        serves the selection rule `validation` where nobody knows the truth.
        """
        n = len(self.labelled)
        held = round(share * n)
        if not 0 < held < n:
            raise InputError(
                f"a share of {share} of {n} labelled items sets {held} aside; at least one item "
                "must be held out and one left"
            )
        labelled = self.labelled.cpu().numpy()
        aside = np.zeros(len(self), dtype=bool)
        aside[np.random.default_rng(seed).choice(labelled, held, replace=False)] = True
        of_label = aside[self.annotations.item]
        return self._with_labels(~of_label), self._with_labels(of_label)

    def leave_out(self, items: np.ndarray) -> CrowdData:
        """The same set without the labels of items in the mask (N,); itself, were none left."""
        chosen = ~items[self.annotations.item]
        return self._with_labels(chosen) if chosen.any() else self

    def _with_labels(self, chosen: np.ndarray) -> CrowdData:
        crowd = self.annotations
        codes = {name: getattr(crowd, name)[chosen] for name in ("item", "annotator", "label")}
        return CrowdData(self.source, replace(crowd, **codes), self.device)

    def _codes(self, codes: np.ndarray) -> Tensor:
        return torch.as_tensor(codes.astype(np.int64), device=self.device)
