"""CCC's options compared on MUSIC, by cross-validation against the crowd or over all items.

    python -m benchmarks.choose cv --seeds 2 [--only lr3e-3,paper]
    python -m benchmarks.choose all --runs 8 [--only default,paper]
    python -m benchmarks.choose labelme --runs 4

`cv` never opens the test set: five folds of the 700 training pieces, whose labels are hidden from
the training. Score of a held-out piece: the share of the crowd's belief, the mean posterior of four
truth inference methods on the labels alone, that falls on the class predicted at the last epoch.
`truth`, the held-out accuracy by the true classes, is printed to judge the score; it chose nothing.
`all` trains on all pieces and scores the test set every epoch: for explaining, not for choosing.
`labelme` trains on LabelMe's 1,000 images (no augmented views, 256 principal components of their
features) and scores the 500 of the validation split.
Finished runs are kept in `--ledger` and not run again.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor

import crowdwise
from benchmarks.many import Many, Options, labels_of
from crowdwise import datasets
from crowdwise.annotations import Annotations
from crowdwise.datasets.dataset import Dataset

FOLDS = 5
BELIEF = ("dawid-skene", "grouped-dawid-skene", "one-coin", "mace")
SHORT: dict[str, Any] = {"epochs": 60, "warmup": 15, "schedule": "cosine"}
COSINE: dict[str, Any] = {"schedule": "cosine"}
OURS: dict[str, Any] = {"lr": 3e-3, "n_groups": 22, "meta_size": 175}  # methods/defaults.py
CANDIDATES: dict[str, dict[str, Any]] = {
    "paper": {},
    "lr3e-3": {"lr": 3e-3},
    "lr3e-3 400 epochs": {"lr": 3e-3, "epochs": 400},
    "CrowdLayer lr3e-3": {"lr": 3e-3, "gamma": 0.0},
    "lr3e-3 T10": {"lr": 3e-3, "rate_of_T": 10.0},
    "cosine": COSINE,
    "cosine 3e-3": COSINE | {"lr": 3e-3},
    "cosine CrowdLayer": COSINE | {"gamma": 0.0},
    "cosine 1e-2 DS": COSINE | {"start_of_T": "dawid-skene"},
    "cosine 3e-3 DS": COSINE | {"lr": 3e-3, "start_of_T": "dawid-skene"},
    "short": SHORT,
    "short 3e-3": SHORT | {"lr": 3e-3},
    "short 3e-3 CrowdLayer": SHORT | {"lr": 3e-3, "gamma": 0.0},
    "short 3e-3 gamma 1": SHORT | {"lr": 3e-3, "gamma": 1.0},
    "short 3e-3 dropout 0.7": SHORT | {"lr": 3e-3, "dropout": 0.7},
    "short 1e-2 dropout 0.7": SHORT | {"dropout": 0.7},
    "short 1e-2 decay 1e-3": SHORT | {"weight_decay": 1e-3},
    "short 1e-2 fresh masks": SHORT | {"fresh_dropout": True},
    "short 3e-3 four models": SHORT | {"lr": 3e-3, "models": 4},
    "short 3e-3 T10": SHORT | {"lr": 3e-3, "rate_of_T": 10.0},
    "short 1e-2 DS": SHORT | {"start_of_T": "dawid-skene"},
    "short 1e-2 DS dropout 0.3": SHORT | {"start_of_T": "dawid-skene", "dropout": 0.3},
    "short 1e-2 DS gamma 1": SHORT | {"start_of_T": "dawid-skene", "gamma": 1.0},
    "short 1e-2 DS CrowdLayer": SHORT | {"start_of_T": "dawid-skene", "gamma": 0.0},
    "short 1e-2 DS four models": SHORT | {"start_of_T": "dawid-skene", "models": 4},
    "short 1e-2 one-coin": SHORT | {"start_of_T": "one-coin"},
    "short 3e-2 DS": SHORT | {"start_of_T": "dawid-skene", "lr": 3e-2},
    "short 3e-2": SHORT | {"lr": 3e-2},
    "short 3e-3 DS": SHORT | {"lr": 3e-3, "start_of_T": "dawid-skene"},
    "short 3e-3 DS CrowdLayer": SHORT | {"lr": 3e-3, "gamma": 0.0, "start_of_T": "dawid-skene"},
    "short 3e-3 one-coin CrowdLayer": SHORT | {"lr": 3e-3, "gamma": 0.0, "start_of_T": "one-coin"},
}
EXPLAINED: dict[str, dict[str, Any]] = {
    "paper": {},
    "default": OURS,
    "CrowdLayer": {"gamma": 0.0},
    "default CrowdLayer": {"lr": 3e-3, "gamma": 0.0},
    "own dropout mask in the actual step": {"fresh_dropout": True},
    "own batches for each model": {"own_batches": True},
    "one k-means for both models": {"joint_groups": True},
    "not coupled": {"coupled": False},
    "gamma 0.1": {"gamma": 0.1},
    "gamma 1": {"gamma": 1.0},
    "meta batch 32": {"meta_batch": 32},
    "M = 80": {"meta_size": 80},
    "M = 400": {"meta_size": 400},
    "no dropout": {"dropout": 0.0},
    "dropout 0.2": {"dropout": 0.2},
    "norm of the inputs only": {"norm": (True, False)},
    "lr 1e-3": {"lr": 1e-3},
    "T ten times faster": {"lr": 3e-3, "rate_of_T": 10.0},
    "T from Dawid-Skene": {"start_of_T": "dawid-skene"},
}

LABELME: dict[str, Any] = {
    **{"epochs": 100, "warmup": 25, "lr": 1e-3, "gamma": 0.5, "n_groups": 25, "meta_size": 200},
    "norm": (False, False),
}
ON_LABELME: dict[str, dict[str, Any]] = {
    "CCC": {},
    "CrowdLayer": {"gamma": 0.0},
    "gamma 0.1": {"gamma": 0.1},
    "gamma 2": {"gamma": 2.0},
    "M = 80": {"meta_size": 80},
    "M = 800": {"meta_size": 800},
    "not coupled": {"coupled": False},
    "head alone": {"active": "head", "virtual": "head"},
    "G = 59": {"n_groups": 59},
    "G = 5": {"n_groups": 5},
    "no dropout": {"dropout": 0.0},
    "no dropout, CrowdLayer": {"dropout": 0.0, "gamma": 0.0},
    "T ten times faster": {"rate_of_T": 10.0},
    "T ten times faster, CrowdLayer": {"rate_of_T": 10.0, "gamma": 0.0},
    "norms": {"norm": (True, True)},
    "norms, CrowdLayer": {"norm": (True, True), "gamma": 0.0},
}

TABLES = {"cv": CANDIDATES, "all": EXPLAINED, "labelme": ON_LABELME}


def started(crowd: Annotations, rows: Tensor, method: str) -> Tensor | None:
    """T of each run, log(C · confusion) of a truth inference method on its own items."""
    if not method:
        return None
    found = []
    for own in rows.numpy():
        keep = np.isin(crowd.item, own)
        columns = {name: getattr(crowd, name)[keep] for name in ("item", "annotator", "label")}
        confusions = crowdwise.aggregate(replace(crowd, **columns), method).confusions
        found.append(np.log(len(crowd.classes) * np.clip(confusions, 1e-3, 1)))
    return torch.as_tensor(np.stack(found), dtype=torch.float32)


def train(
    data: Dataset, rows: Tensor, given: dict[str, Any], seed: int, score: Callable[[Many], None]
) -> Many:
    """Runs on the items rows[k]; `score` is called after every epoch."""
    options = Options(**given)
    crowd = data.annotations
    assert crowd is not None
    T = started(crowd, rows, options.start_of_T)
    many = Many(torch.as_tensor(data.x_train), labels_of(crowd), rows, options, seed, T)
    many.train(lambda _: score(many))
    return many


def cross_validate(data: Dataset, given: dict[str, Any], seed: int) -> dict[str, float]:
    """Held-out scores of one candidate; the folds come from the seed."""
    crowd, n = data.annotations, len(data.x_train)
    assert crowd is not None
    held = np.random.default_rng(seed).permutation(n).reshape(FOLDS, -1)
    rows = np.stack([np.setdiff1d(np.arange(n), fold) for fold in held])
    many = train(data, torch.as_tensor(rows), given, seed, lambda _: None)
    p = many.predict(torch.as_tensor(data.x_train[held])).mean(1)
    said = np.empty(n, int)
    said[held] = p.argmax(2).numpy()
    belief = np.mean([crowdwise.aggregate(crowd, method).proba for method in BELIEF], axis=0)
    return {
        "score": round(100 * float(belief[np.arange(n), said].mean()), 3),
        "truth": round(100 * float((said == data.y_train).mean()), 3),
    }


def over_all(data: Dataset, given: dict[str, Any], runs: int) -> dict[str, Any]:
    """Accuracy of `runs` pairs trained on all items: at the last epoch and at the best."""
    x, y = torch.as_tensor(data.x_test), torch.as_tensor(data.y_test)
    curves: list[Tensor] = []

    def score(many: Many) -> None:
        right = many.predict(x).mean(1).argmax(2) == y
        curves.append(100 * right.double().mean(1))

    train(data, torch.arange(len(data.x_train)).expand(runs, -1), given, 100, score)
    curve = torch.stack(curves, 1)
    return {"last": curve[:, -1].tolist(), "oracle": curve.amax(1).tolist()}


def small_labelme() -> Dataset:
    """LabelMe on principal components, the validation split in the test's place."""
    data = datasets.load("labelme-original")
    assert data.x_valid is not None
    images = np.asarray(data.x_train, np.float32)
    middle = images.mean(0)
    _, _, axes = np.linalg.svd(images - middle, full_matrices=False)
    images, valid = (
        (np.asarray(x, np.float32) - middle) @ axes[:256].T for x in (images, data.x_valid)
    )
    scale = images.std()  # of all components together: their proportions stay
    return replace(data, x_train=images / scale, x_test=valid / scale, y_test=data.y_valid)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", default="cv", choices=tuple(TABLES))
    parser.add_argument("--only", default="", help="candidates, with commas between")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--ledger", type=Path, default=Path("docs/results/ledgers/choose.jsonl"))
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    options = TABLES[asked.what]
    names = asked.only.split(",") if asked.only else list(options)
    data = small_labelme() if asked.what == "labelme" else datasets.load("music")
    lines = asked.ledger.read_text("utf-8").splitlines() if asked.ledger.exists() else []
    done = {(x["what"], x["name"], x["seed"]): x for x in map(json.loads, lines)}
    for seed in range(asked.seeds) if asked.what == "cv" else [asked.runs]:
        for name in names:
            if (asked.what, name, seed) in done:
                continue
            begun = process_time()
            by_cv = asked.what == "cv"
            given = options[name] if asked.what != "labelme" else LABELME | options[name]
            found = (cross_validate if by_cv else over_all)(data, given, seed)
            line = {"what": asked.what, "name": name, "seed": seed, "options": given}
            line |= found | {"cpu_seconds": round(process_time() - begun, 1)}
            done[asked.what, name, seed] = line
            with asked.ledger.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)
    show(asked.what, names, done)


def show(what: str, names: list[str], done: dict[Any, dict[str, Any]]) -> None:
    """A table of what is finished."""
    keys = ("score", "truth") if what == "cv" else ("last", "oracle")
    print(f"| options | n | {keys[0]} | {keys[1]} |\n| --- | ---: | ---: | ---: |")
    for name in names:
        found = [line for (kind, n, _), line in done.items() if (kind, n) == (what, name)]
        cells = []
        for key in keys:
            values = np.concatenate([np.atleast_1d(line[key]) for line in found])
            spread = f" ± {values.std(ddof=1):.2f}" if len(values) > 1 else ""
            cells.append(f"{values.mean():.2f}{spread}")
        print(f"| {name} | {len(values)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
