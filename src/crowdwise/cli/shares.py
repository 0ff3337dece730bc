"""`torchrun -m crowdwise aggregate`: several processes, each with a share of the items."""

import os
from typing import Any

from crowdwise.errors import InputError


def in_shares() -> bool:
    """Has torchrun started this process as one of several?"""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def consensus_in_shares(
    table: str,
    method: str,
    out: str | None,
    annotators_out: str | None,
    truth: str | None,
    settings: dict[str, Any],
    columns: dict[str, Any],
    truth_columns: dict[str, str | None],
) -> tuple[dict[str, Any], Any] | None:
    """Aggregate this process's share and write the whole; the first process gets the summary."""
    from crowdwise.aggregate.export import write_frame
    from crowdwise.aggregate.shares import aggregate_share, summarise_share
    from crowdwise.annotations.readers import read_share
    from crowdwise.annotations.shares import Share
    from crowdwise.engine.together import together

    if method == "all" or out == "-":
        raise InputError("--method all and --out - are for one process; name a method and a file")
    with together() as job:
        share = Share(job.rank, job.size, job.exchange)
        annotations = read_share(table, share, **columns)
        known = None
        if truth is not None:
            known = _known(truth, annotations, job, truth_columns)
        options = {"threads": job.threads, **settings}
        if method == "majority":
            options.pop("threads")
        consensus = aggregate_share(annotations, job.total, method, **options)
        summary = summarise_share(consensus, annotations, job.exchange, known)
        if out is not None:
            _write_together(consensus.to_frame(), out, job)
        if annotators_out is not None and job.rank == 0:
            write_frame(consensus.annotators, annotators_out)
        job.exchange("done")
        return (summary, consensus.annotators) if job.rank == 0 else None


def _known(truth: str, annotations: Any, job: Any, columns: dict[str, str | None]) -> Any:
    """True codes of this share's items, -1 where the truth is silent."""
    import numpy as np

    from crowdwise.annotations.kinds import as_kind_of
    from crowdwise.annotations.known import truth_codes
    from crowdwise.annotations.truth import read_truth

    said = read_truth(truth, None, **columns)
    ids = set(annotations.item_ids.tolist())
    pairs = zip(as_kind_of(said, annotations.item_ids), said.values(), strict=True)
    mine = {item: value for item, value in pairs if item in ids}
    if not any(job.exchange(len(mine))):
        raise InputError(
            f"{truth}: none of its {len(said)} items is in the crowd's table; give the truth of "
            "these items"
        )
    values = as_kind_of(mine.values(), annotations.classes)
    if not mine:
        return np.full(annotations.n_items, -1)
    return truth_codes(annotations, dict(zip(mine, values, strict=True)))


def _write_together(frame: Any, out: str, job: Any) -> None:
    """One file in the order of the items, by way of a Parquet file per share beside it."""
    from functools import reduce
    from pathlib import Path

    import polars as pl

    from crowdwise.aggregate.export import kind_of_file, write_frame
    from crowdwise.files import whole

    parts = [Path(f"{out}.share-{number + 1}-of-{job.size}.parquet") for number in range(job.size)]
    try:
        write_frame(frame, str(parts[job.rank]))
        job.exchange("written")
        if job.rank == 0:
            scans = [pl.scan_parquet(part) for part in parts]
            merged = reduce(lambda left, right: left.merge_sorted(right, "item"), scans)
            if kind_of_file(out) == ".parquet":
                with whole(out) as temporary:
                    merged.sink_parquet(temporary)
            else:
                write_frame(merged.collect(engine="streaming"), out)
        job.exchange("read")
    finally:
        parts[job.rank].unlink(missing_ok=True)
