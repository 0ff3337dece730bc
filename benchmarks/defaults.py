"""CrowdClassifier without options on real and simulated crowds: test accuracy at the last epoch.

    python -m benchmarks.defaults --data music,labelme-original,digits --seeds 3

The test sets decide nothing here: the options were chosen by `benchmarks.choose`. Finished runs are
kept in `--ledger` and not run again.
"""

import argparse
import json
import statistics
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch

from crowdwise import CrowdClassifier, datasets, simulate

DATA = ("music", "labelme-original", "digits")
METHODS = ("major-vote", "crowd-layer", "ccc")


def run(name: str, method: str, seed: int) -> dict[str, Any]:
    """One training with no option but the seed."""
    data = datasets.load(name)
    crowd = data.annotations
    if crowd is None:  # digits: 250 annotators of five kinds, three labels per item
        assert data.y_train is not None
        crowd = simulate.crowd(data.y_train, "IND-I", k=3, seed=seed)
    started = process_time()
    model = CrowdClassifier(method, seed=seed).fit(data.x_train, crowd)
    right = (model.predict(data.x_test) == np.asarray(data.classes)[data.y_test]).mean()
    return {
        "data": name,
        "method": method,
        "seed": seed,
        "accuracy": round(100 * float(right), 3),
        "settings": model.settings_,
        "cpu_seconds": round(process_time() - started, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ledger", type=Path, default=Path("docs/results/ledgers/defaults.jsonl"))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    lines = asked.ledger.read_text("utf-8").splitlines() if asked.ledger.exists() else []
    done = {(x["data"], x["method"], x["seed"]): x for x in map(json.loads, lines)}
    names, methods = asked.data.split(","), asked.methods.split(",")
    for seed in range(asked.seeds):
        for name in names:
            for method in methods:
                if (name, method, seed) not in done:
                    done[name, method, seed] = line = run(name, method, seed)
                    with asked.ledger.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(line) + "\n")
    print("| data | method | seeds | test accuracy, last epoch |\n| --- | --- | ---: | ---: |")
    for name in names:
        for method in methods:
            right = [done[name, method, seed]["accuracy"] for seed in range(asked.seeds)]
            spread = f" ± {statistics.stdev(right):.2f}" if len(right) > 1 else ""
            print(f"| {name} | {method} | {len(right)} | {statistics.mean(right):.2f}{spread} |")


if __name__ == "__main__":
    main()
