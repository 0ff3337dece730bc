"""A table dealt to several processes: vocabularies, posteriors, annotators as in one process."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdwise import Annotations, InputError, aggregate, simulate
from crowdwise.aggregate.shares import METHODS_IN_SHARES, aggregate_share, summarise_share
from crowdwise.aggregate.summary import summarise
from crowdwise.annotations.known import truth_codes
from crowdwise.annotations.readers import read_annotations, read_share
from crowdwise.annotations.shares import Share

TRUTH = np.random.default_rng(0).integers(0, 10, 300)


class Threads:
    """What processes tell each other, by threads of one."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.said: list[Any] = [None] * size
        self.barrier = threading.Barrier(size, timeout=30)

    def exchange(self, rank: int, value: Any) -> list[Any]:
        self.said[rank] = value
        self.barrier.wait()
        values = list(self.said)
        self.barrier.wait()
        return values

    def run(self, work: Callable[[int, Callable[[Any], list[Any]]], Any]) -> list[Any]:
        results: list[Any] = [None] * self.size

        def one(rank: int) -> None:
            try:
                results[rank] = work(rank, lambda value: self.exchange(rank, value))
            except BaseException as error:
                results[rank] = error
                self.barrier.abort()

        threads = [threading.Thread(target=one, args=(rank,)) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in results:
            if isinstance(error, BaseException) and not isinstance(
                error, threading.BrokenBarrierError
            ):
                raise error
        return results


def written(folder: Path, kind: str, crowd: Annotations) -> Path:
    path = folder / f"crowd.{kind}"
    frame = crowd.to_frame()
    frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
    return path


def shares_of(path: Path, size: int) -> list[Annotations]:
    return Threads(size).run(lambda rank, exchange: read_share(path, Share(rank, size, exchange)))


def crowd_named(items: str, labels: str) -> Annotations:
    crowd = simulate.crowd(TRUTH, "IND-I", k=3, seed=1)
    item = crowd.item_ids[crowd.item]
    label = crowd.classes[crowd.label]
    return Annotations.from_triples(
        item if items == "numbers" else [f"é {i % 97} {i}" for i in item.tolist()],
        [f"r{r}" for r in crowd.annotator.tolist()],
        {"numbers": label, "text": [f"c{c}" for c in label.tolist()], "yes or no": label > 4}[
            labels
        ],
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("items", "labels"), [("numbers", "numbers"), ("text", "text"), ("text", "yes or no")]
)
def test_shares_are_the_table(tmp_path: Path, kind: str, items: str, labels: str) -> None:
    path = written(tmp_path, kind, crowd_named(items, labels))
    whole = read_annotations(path)
    shares = shares_of(path, 3)
    for share in shares:
        np.testing.assert_array_equal(share.annotator_ids, whole.annotator_ids)
        np.testing.assert_array_equal(share.classes, whole.classes)
        assert share.classes.dtype == whole.classes.dtype
        assert share.item_ids.dtype.kind == whole.item_ids.dtype.kind
    ids = np.concatenate([share.item_ids for share in shares])
    np.testing.assert_array_equal(np.sort(ids), whole.item_ids)
    triples = [
        set(zip(*(c.tolist() for c in part.to_triples()), strict=True)) for part in (whole, *shares)
    ]
    assert set.union(*triples[1:]) == triples[0]
    assert sum(map(len, triples[1:])) == len(triples[0])


def test_a_column_that_looks_like_numbers_to_some_is_text_to_all(tmp_path: Path) -> None:
    rows = [f"{i},r{i % 5},{i % 2}" for i in range(60)] + ["x,007,1"]
    path = tmp_path / "crowd.csv"
    path.write_text("item,annotator,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    whole = read_annotations(path)
    for share in shares_of(path, 4):
        assert share.item_ids.dtype.kind == "U"
        assert share.annotator_ids.tolist() == whole.annotator_ids.tolist()
        assert share.classes.tolist() == [0, 1]


def test_quotes_polars_cannot_read_are_read_in_shares_too(tmp_path: Path) -> None:
    path = tmp_path / "crowd.csv"
    rows = "".join(f'"i{i}",r{i % 3},{"yes" if i % 2 else "no"}\n\n' for i in range(40))
    path.write_text("item,annotator,label\n" + rows, encoding="utf-8")
    assert sum(map(len, shares_of(path, 2))) == len(read_annotations(path)) == 40


def totalling(exchange: Callable[[Any], list[Any]]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: np.sum(exchange(values), axis=0)


@pytest.mark.parametrize("method", METHODS_IN_SHARES)
def test_posteriors_and_annotators_are_those_of_one_process(tmp_path: Path, method: str) -> None:
    path = written(tmp_path, "parquet", crowd_named("text", "text"))
    whole = read_annotations(path)
    known = {item: f"c{TRUTH[int(item.split()[-1])]}" for item in whole.item_ids.tolist()[:50]}
    one = aggregate(whole, method)

    def work(rank: int, exchange: Callable[[Any], list[Any]]) -> Any:
        share = read_share(path, Share(rank, 3, exchange))
        found = aggregate_share(share, totalling(exchange), method)
        return found, summarise_share(found, share, exchange, truth_codes(share, known))

    results = Threads(3).run(work)
    place = {item: row for row, item in enumerate(whole.item_ids.tolist())}
    summary = summarise(one, whole, truth_codes(whole, known))
    for found, told in results:
        rows = [place[item] for item in found.item_ids.tolist()]
        np.testing.assert_allclose(found.proba, one.proba[rows], atol=1e-9)
        assert (found.steps, found.converged) == (one.steps, one.converged)
        np.testing.assert_allclose(found.history, one.history, rtol=1e-9)
        for name in one.annotators.columns:
            mine, theirs = found.annotators[name], one.annotators[name]
            if mine.dtype.is_float():
                np.testing.assert_allclose(mine.to_numpy(), theirs.to_numpy(), atol=1e-9)
            else:
                assert mine.equals(theirs)
        if method != "majority":  # whose ties are drawn
            for name in ("labels", "items", "consensus", "items_with_truth", "classes"):
                assert told[name] == summary[name]
            assert told["accuracy"] == pytest.approx(summary["accuracy"])
            assert told["labels_like_consensus"] == pytest.approx(summary["labels_like_consensus"])


def test_what_cannot_be_shared_is_refused(tmp_path: Path) -> None:
    crowd = crowd_named("text", "text")
    with pytest.raises(InputError, match="glad runs in one process only"):
        aggregate_share(crowd, lambda values: values, "glad")
    with pytest.raises(InputError, match="no label at all"):
        aggregate_share(crowd.subset(items=[]), lambda values: values)
    path = tmp_path / "crowd.jsonl"
    crowd.to_frame().write_ndjson(path)
    with pytest.raises(InputError, match="not read in shares"):
        read_share(path, Share(0, 1, lambda value: [value]))
    assert isinstance(crowd.to_frame(), pl.DataFrame)
