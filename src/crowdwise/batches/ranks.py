"""Training on several processes: each takes its share of every batch, and the sums are common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from crowdwise.errors import InputError, LostProcess


class Ranks:
    """The processes that train one model together; one alone sums nothing.

    Every process holds the whole model and draws the same numbers, so whatever is computed from
    sums over all processes is the same on each: weights, corrections, groups, scores.

    Example:
        >>> ALONE.sum(torch.tensor([1.0])), ALONE.part(5)
        (tensor([1.]), slice(0, 5, None))
    """

    def __init__(
        self, rank: int = 0, size: int = 1, group: dist.ProcessGroup | None = None
    ) -> None:
        self.rank, self.size, self.group = rank, size, group

    def sum(self, values: Tensor) -> Tensor:
        """The sum over all processes; it takes no part in gradients."""
        if self.size == 1:
            return values
        total = values.detach().clone(memory_format=torch.contiguous_format)
        with _together():
            dist.all_reduce(total, group=self.group)
        return total

    def total(self, values: Tensor) -> Tensor:
        """The same, for losses whose gradients are summed: differentiable as often as you like."""
        if self.size == 1:
            return values
        total: Tensor = _Total.apply(values, self)  # type: ignore[no-untyped-call]
        return total

    def rows(self, values: Tensor) -> Tensor:
        """Every process's rows (n_r, …), one process after the other; differentiable."""
        if self.size == 1:
            return values
        counts = torch.zeros(self.size, dtype=torch.int64, device=values.device)
        counts[self.rank] = len(values)
        lengths: list[int] = self.sum(counts).tolist()
        before = sum(lengths[: self.rank])
        padded = values.new_zeros(sum(lengths), *values.shape[1:])
        own = torch.arange(before, before + len(values), device=values.device)
        return self.total(padded.index_copy(0, own, values))

    def sums(self, values: Sequence[Tensor]) -> list[Tensor]:
        """The sum of each over all processes, all of them sent at once."""
        if self.size == 1:
            return list(values)
        flat = self.sum(torch.cat([value.reshape(-1) for value in values]))
        parts = torch.split(flat, [value.numel() for value in values])
        return [part.view(value.shape) for part, value in zip(parts, values, strict=True)]

    def count(self, n: int, device: torch.device | str = "cpu") -> int:
        """How many things all processes have together, of which this one has n."""
        return n if self.size == 1 else int(self.sum(torch.tensor(n, device=device)))

    def weighted(self, loss: Tensor, of: int | Tensor) -> Tensor:
        """This process's part of a mean over all things: its own mean, over n_r of Σ n_s.

        The weight goes in before gradients are taken, for batch norm mixes what comes back from
        all processes.
        """
        if self.size == 1:
            return loss
        count = torch.as_tensor(of, dtype=torch.float64, device=loss.device)
        weight = count / self.sum(count).clamp(min=1)
        return loss * weight.to(loss.dtype)

    def part(self, n: int) -> slice:
        """This process's run of n things, all of nearly the same length."""
        if n < self.size:
            return slice(0, n)
        return slice(n * self.rank // self.size, n * (self.rank + 1) // self.size)

    @contextmanager
    def cut(self, n: int) -> Iterator[slice]:
        """This process's part of a batch of n.

        Fewer things than processes cannot be cut: then, inside, each takes them all, and sums
        with nobody.
        """
        own, size = self.part(n), self.size
        self.size = 1 if n < size else size
        try:
            yield own
        finally:
            self.size = size

    def gather(self, part: Tensor, n: int, dim: int = 0) -> Tensor:
        """All n things, of which each process gives what `part(n)` says is its own."""
        if self.size == 1 or n < self.size:
            return part
        own = self.part(n)
        shape = list(part.shape)
        shape[dim] = n
        everything = part.new_zeros(shape)
        everything.narrow(dim, own.start, own.stop - own.start).copy_(part)
        return self.sum(everything)

    def batches(self, order: Tensor, batch_size: int) -> Iterator[tuple[Tensor, int]]:
        """This process's share of an epoch, as (items, items in a batch): all but the last batch
        are of one size, and so are its shares."""
        if self.size == 1:
            yield order, batch_size
            return
        if batch_size < self.size:
            raise InputError(
                f"option batch_size is {batch_size}, to be shared by {self.size} processes; give "
                f"{self.size} or more"
            )
        full = len(order) // batch_size * batch_size
        for run, size in ((order[:full], batch_size), (order[full:], len(order) - full)):
            if len(run):
                with self.cut(size) as part:
                    own = run.view(-1, size)[:, part]
                    yield own.reshape(-1), own.shape[1]

    @contextmanager
    def own_draws(self) -> Iterator[None]:
        """What is drawn inside (a dropout mask) differs by process; the common stream stays so."""
        seed = int(torch.randint(2**31 - 1, ()))
        with torch.random.fork_rng():
            torch.manual_seed(seed + (self.rank if self.size > 1 else 0))
            yield


ALONE = Ranks()


class _Total(torch.autograd.Function):
    """y = Σ_r x_r on every process; what is upstream of y on every process comes back to x_r."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, ranks: Ranks) -> Tensor:
        ctx.ranks = ranks
        return ranks.sum(values)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        return ctx.ranks.total(upstream), None


@contextmanager
def _together() -> Iterator[None]:
    """A sum that does not come about is the end of the job, in one sentence."""
    try:
        yield
    except (RuntimeError, dist.DistError) as error:
        raise LostProcess(
            "another process of this job has ended or no longer answers "
            f"({str(error).partition(chr(10))[0]:.120}); the job is over: start it again, and it "
            "goes on from its last checkpoint"
        ) from error
