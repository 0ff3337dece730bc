"""Pages that show measured numbers show those that the benchmarks left beside themselves."""

import json
from pathlib import Path
from statistics import fmean

import pytest

ROOT = Path(__file__).parent.parent.parent
MEASURED = json.loads((ROOT / "benchmarks" / "aggregate.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "aggregate.md").read_text(encoding="utf-8")


def test_truth_inference_shows_the_accuracies_measured() -> None:
    table = MEASURED["accuracy"]["table"]
    assert table
    for method, row in table.items():
        assert f"| {method} | " + " | ".join(f"{cell:.2f}" for cell in row.values()) in PAGE


def test_truth_inference_shows_the_speed_measured() -> None:
    for found in MEASURED["speed"]["contestants"].values():
        cells = (f"{found['median_seconds']:.3f}", f"{found['times_as_fast']:.1f}")
        assert all(f"| {cell} |" in PAGE for cell in cells)
    assert MEASURED["speed"]["contestants"]["crowdwise"]["times_as_fast"] >= 10
    assert MEASURED["speed"]["posteriors_apart"] < 1e-6
    assert f"{MEASURED['hundred']['peak_gib']} GiB" in PAGE
    assert MEASURED["hundred"]["peak_gib"] < 12


def test_the_default_is_ahead_of_crowd_kit_in_both_means() -> None:
    for part in ("accuracy", "simulated"):
        table = MEASURED[part]["table"]
        assert table["dawid-skene"]["mean"] > table["crowd-kit 1.4.1, Dawid-Skene"]["mean"]


def test_the_readme_shows_the_comparison_that_was_measured() -> None:
    path = ROOT / "docs" / "results" / "ledgers" / "consensus.jsonl"
    cells = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {
        "majority": "majority vote",
        "crowd-kit": "crowd-kit, Dawid-Skene",
        "crowdlab": "cleanlab, CROWDLAB",
        "fit": "`crowdwise fit`",
    }
    for row, name in names.items():
        line = next(line for line in readme.splitlines() if line.startswith(f"| {name} |"))
        shown = [float(cell.strip(" *")) for cell in line.split("|")[2:-1]]
        measured = [
            fmean(100 * cell[what] for cell in cells if (cell["data"], cell["row"]) == (data, row))
            for data in ("music", "labelme", "cifar10n")
            for what in ("consensus", "classifier")
        ]
        assert shown == pytest.approx(measured, abs=0.0501)
