"""Consensus and classifier of `fit` with its defaults beside majority vote, Dawid-Skene, CROWDLAB.

    CROWDWISE_DATA=… python -m benchmarks.consensus              what is missing, then the page
    CROWDWISE_DATA=… python -m benchmarks.consensus --again fit  the rows of one kind once more
    python -m benchmarks.consensus --page                        the page alone

Writes docs/results/consensus.md from docs/results/ledgers/consensus.jsonl, a line per finished
cell. A cell is known by data set, row, seed and every option its training resolved to: when a
default changes, the cells it touches run again and no other. crowd-kit and cleanlab run in
environments of their own (benchmarks/competitors.py).
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import competitors, consensus_page
from crowdwise.annotations.table import Annotations

LEDGER = Path("docs/results/ledgers/consensus.jsonl")
FOLDS = 5
SEEDS = {"music": 3, "labelme": 1, "rte-text": 1, "cifar10n": 1}
Line = dict[str, Any]
ROWS = ("fit", "majority", "crowd-kit", "crowdlab", "aggregate")


@dataclass(frozen=True)
class Data:
    """Items with features and labels, and others with features alone; truth for scoring only."""

    x: np.ndarray
    crowd: Annotations
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def load(name: str) -> Data:
    if name == "rte-text":
        return load_rte(Path(os.environ["CROWDWISE_DATA"]))
    from crowdwise import datasets

    known = {"music": "music-raw", "labelme": "labelme-original", "cifar10n": "cifar10n-features"}
    found = datasets.load(known[name])
    x, x_test = found.x_train.astype(np.float32), found.x_test.astype(np.float32)
    return Data(x, found.annotations, found.y_train, x_test, found.y_test)


def load_rte(root: Path) -> Data:
    """Pairs of sentences by TF-IDF; every fourth pair's labels are kept back to test on.

    Features: 32 singular components of text and of hypothesis, and the cosine between the two.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    tables = [root / "rte-text" / f"snow_rte{end}.tsv" for end in ("1_text", ".standardized")]
    pairs = pl.read_csv(tables[0], separator="\t", quote_char=None).sort("id")
    said = pl.read_csv(tables[1], separator="\t", quote_char=None)
    words = TfidfVectorizer(sublinear_tf=True)
    words.fit(pairs["text"].to_list() + pairs["hypothesis"].to_list())
    text, claim = (words.transform(pairs[part].to_list()) for part in ("text", "hypothesis"))
    cosine = np.asarray(text.multiply(claim).sum(axis=1))
    small = TruncatedSVD(32, random_state=0).fit(text)
    x = np.hstack([small.transform(text), small.transform(claim), cosine]).astype(np.float32)
    place = {item: row for row, item in enumerate(pairs["id"].to_list())}
    row = np.array([place[item] for item in said["orig_id"].to_list()])
    y = np.zeros(len(x), dtype=np.int64)
    y[row] = said["gold"].to_numpy()
    test = np.arange(len(x)) % 4 == 3
    kept = ~test[row]
    crowd = Annotations.from_triples(
        (np.cumsum(~test) - 1)[row[kept]],
        said["!amt_worker_ids"].to_numpy()[kept],
        said["response"].to_numpy()[kept],
    )
    return Data(x[~test], crowd, y[~test], x[test], y[test])


def run(row: str, data: Data, seed: int) -> Line:
    """One cell: share of items whose consensus is right, and of test items the classifier knows."""
    import crowdwise

    crowd, known = data.crowd, np.bincount(data.crowd.item, minlength=len(data.y)) > 0

    def consensus(codes: np.ndarray) -> float:
        return float((codes == data.y)[known].mean())

    if row == "fit":
        model = crowdwise.CrowdClassifier(seed=seed).fit(data.x, crowd)
        codes = coded(crowd, model.consensus_["label"].to_list())
        return {"consensus": consensus(codes), "classifier": tested(model, data)}
    if row == "majority":
        shares = crowdwise.aggregate(crowd, "majority").proba
        best = shares >= shares.max(axis=1, keepdims=True) - 1e-9
        right = best[np.arange(len(data.y)), data.y] / best.sum(axis=1)  # ties at random
        model = crowdwise.CrowdClassifier("major-vote", seed=seed).fit(data.x, crowd)
        return {"consensus": float(right[known].mean()), "classifier": tested(model, data)}
    if row == "aggregate":
        codes = crowdwise.aggregate(crowd).codes
    elif row == "crowd-kit":
        codes = competitors.ask("dawid-skene", **triples(crowd)).argmax(axis=1)
    else:
        proba = out_of_sample(data, seed)
        codes = competitors.ask("crowdlab", **triples(crowd), proba=proba)
    model = crowdwise.CrowdClassifier("major-vote", seed=seed).fit(data.x, one_voice(crowd, codes))
    return {"consensus": consensus(codes), "classifier": tested(model, data)}


def triples(crowd: Annotations) -> dict[str, np.ndarray]:
    return {"item": crowd.item, "annotator": crowd.annotator, "label": crowd.label}


def tested(model: Any, data: Data) -> float:
    predicted = coded(data.crowd, model.predict(data.x_test).tolist())
    return float((predicted == data.y_test).mean())


def coded(crowd: Annotations, labels: list[Any]) -> np.ndarray:
    codes = {name: code for code, name in enumerate(crowd.classes.tolist())}
    return np.array([codes[label] for label in labels])


def one_voice(crowd: Annotations, codes: np.ndarray) -> Annotations:
    """The consensus as the labels of one annotator, for a classifier to be trained on."""
    n = crowd.n_items
    return Annotations(
        np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int32), codes.astype(np.int32),
        crowd.item_ids, np.array(["consensus"]), crowd.classes,
    )  # fmt: skip


def out_of_sample(data: Data, seed: int) -> np.ndarray:
    """(N, C) by cross-validation: each fold by the majority-vote classifier of the others."""
    import crowdwise

    fold = np.random.default_rng(seed).permutation(np.arange(len(data.x)) % FOLDS)
    proba = np.zeros((len(data.x), data.crowd.n_classes))
    for part in range(FOLDS):
        rest = np.flatnonzero(fold != part)
        inside = np.isin(data.crowd.item, rest)
        place = np.zeros(len(data.x), dtype=np.int32)
        place[rest] = np.arange(len(rest), dtype=np.int32)
        crowd = Annotations(
            place[data.crowd.item[inside]], data.crowd.annotator[inside],
            data.crowd.label[inside], np.arange(len(rest)), data.crowd.annotator_ids,
            data.crowd.classes,
        )  # fmt: skip
        model = crowdwise.CrowdClassifier("major-vote", seed=seed).fit(data.x[rest], crowd)
        proba[fold == part] = model.predict_proba(data.x[fold == part])
    return proba


def settings(row: str, data: Data) -> dict[str, Any]:
    """Every option that the row's training resolves to."""
    import crowdwise

    model = crowdwise.CrowdClassifier("ccc" if row == "fit" else "major-vote")
    model._prepare(data.x, data.crowd, None)
    return {**model.settings_, "seed": None}


def table_crowds() -> Iterator[tuple[str, Annotations, np.ndarray]]:
    """The crowds without features."""
    from benchmarks.aggregate import PAPER_CROWDS, annotations, real_crowds

    for name, crowd in real_crowds(Path(os.environ["CROWDWISE_DATA"])).items():
        if name in PAPER_CROWDS:
            yield name, annotations(crowd), crowd["truth"]


def from_labels_alone(row: str, crowd: Annotations, truth: np.ndarray) -> dict[str, float]:
    """What is right of the consensus where nothing but the table is known."""
    import crowdwise

    methods = {"majority": "majority", "aggregate": "dawid-skene", "grouped": "grouped-dawid-skene"}
    if row == "crowd-kit":
        proba = competitors.ask("dawid-skene", **triples(crowd))
    else:
        proba = crowdwise.aggregate(crowd, methods[row]).proba
    best = proba >= proba.max(axis=1, keepdims=True) - 1e-9
    known = truth >= 0
    right = best[np.arange(len(truth)), truth] / best.sum(axis=1)
    return {"consensus": float(right[known].mean())}


def read() -> dict[str, Line]:
    if not LEDGER.exists():
        return {}
    return {line["key"]: line for line in map(json.loads, LEDGER.read_text("utf-8").splitlines())}


def write(lines: dict[str, Line]) -> None:
    from crowdwise.files import write_text

    write_text(LEDGER, "".join(json.dumps(line) + "\n" for line in lines.values()))


def finish(
    key: str, cell: Line, work: Callable[[], Line], lines: dict[str, Line], wanted: list[str]
) -> None:
    """Run a cell that is not there, and keep it at once."""
    wanted.append(key)
    if key not in lines:
        start = time.perf_counter()
        found = {name: round(share, 6) for name, share in work().items()}
        seconds = round(time.perf_counter() - start, 1)
        lines[key] = {"key": key, **cell, **found, "seconds": seconds}
        write(lines)
        print(lines[key], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--again", choices=ROWS, action="append", default=[])
    parser.add_argument("--data", choices=SEEDS, action="append")
    asked = parser.parse_args()
    lines = {k: v for k, v in read().items() if v["row"] not in asked.again}
    wanted = []
    if asked.page:
        wanted = list(lines)
    else:
        for name, crowd, truth in table_crowds():
            for row in ("majority", "crowd-kit", "aggregate", "grouped"):
                work = partial(from_labels_alone, row, crowd, truth)
                finish(f"{name}|{row}", {"data": name, "row": row}, work, lines, wanted)
        for name in asked.data or SEEDS:
            data = load(name)
            resolved = {row: json.dumps(settings(row, data), sort_keys=True) for row in ROWS}
            for seed, row in product(range(SEEDS[name]), ROWS):
                key = f"{name}|{row}|{seed}|{resolved[row]}"
                work = partial(run, row, data, seed)
                finish(key, {"data": name, "row": row, "seed": seed}, work, lines, wanted)
        for line in lines.values():  # data sets not asked for stay on the page
            if line["data"] in SEEDS and line["data"] not in (asked.data or SEEDS):
                wanted.append(line["key"])
        write({key: lines[key] for key in wanted})  # cells of settings that are gone
    consensus_page.write([lines[key] for key in wanted])


if __name__ == "__main__":
    main()
