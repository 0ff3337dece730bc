"""Run folders as they should not be: every damage ends in one sentence that names the file."""

import json
import struct
from contextlib import suppress
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import load_file, save_file

import crowdwise
from crowdwise import CrowdClassifier, InputError
from crowdwise.engine.saving import write_weights

X = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
DENSE = np.tile([[0, 1, 0], [1, 1, -1]], (6, 1))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "run"
    CrowdClassifier(net="linear", epochs=1).fit(X, DENSE).save(folder)
    return folder


@pytest.fixture
def run(saved: Path, tmp_path: Path) -> Path:
    return Path(copytree(saved, tmp_path / "run"))


def refused(run: Path, said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        crowdwise.load(run)
    assert str(run) in str(raised.value)
    assert "\n" not in str(raised.value)


TABLES = ["consensus", "annotators", "labels"]
FILES = ["config.json", "model.safetensors", *(f"{name}.parquet" for name in TABLES)]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [None, 0.0, 0.3, 0.95])
def test_a_file_is_missing_or_cut(run: Path, name: str, share: float | None) -> None:
    path = run / name
    whole = path.read_bytes()
    path.unlink()
    if share is not None:
        path.write_bytes(whole[: int(share * len(whole))])
    refused(run, name)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("seed", range(8))
def test_bytes_are_overwritten(run: Path, name: str, seed: int) -> None:
    """Bytes may change within a number: what is read then still has its shape, or is refused."""
    rng = np.random.default_rng(seed)
    data = bytearray((run / name).read_bytes())
    start = int(rng.integers(len(data)))
    data[start : start + 40] = rng.bytes(len(data[start : start + 40]))
    (run / name).write_bytes(data)
    with suppress(InputError):
        assert crowdwise.load(run).predict_proba(X).shape == (12, 2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *(({name: None}, f"{name} is missing") for name in ("net", "input", "classes", "settings")),
        ({"net": 3}, "net is 3"),
        ({"net": "magic"}, "no net is named 'magic'"),
        ({"parameters": ["method"]}, "parameters is"),
        ({"parameters": {"method": "magic"}}, "no method 'magic'"),
        ({"parameters": {"self": 3}}, "cannot be built"),
        ({"parameters": {"method": 3}}, "cannot be built"),
        ({"settings": {"colour": "red"}}, "no option 'colour'"),
        ({"settings": {"lr": "fast"}}, "lr|cannot be built"),
        ({"settings": {"n_models": 10**9}}, "n_models is 1000000000"),
        ({"settings": {"n_models": "two"}}, "n_models"),
        ({"input": []}, "hold nothing"),
        ({"input": [0]}, r"input is \[0\]"),
        ({"input": [True]}, "input is"),
        ({"input": "4"}, "input is '4'"),
        ({"input": [10**12]}, "model.safetensors.*config.json asks for"),
        ({"input": [10**30]}, "config.json"),
        ({"annotators": -1}, "annotators is -1"),
        ({"annotators": 10**12}, "1000000000000 annotators, annotators.parquet has 3"),
        ({"classes": []}, "classes is"),
        ({"classes": {"a": 1}}, "classes is"),
        ({"classes": [0, "1"]}, "classes is"),
        ({"classes": [0, 0]}, "classes is"),
        ({"classes": [[0], [1]]}, "classes is"),
        ({"classes": [0, 1, 2]}, "3 classes, confusions in"),
    ],
)
def test_a_config_that_says_something_else(run: Path, change: dict[str, Any], said: str) -> None:
    config = json.loads((run / "config.json").read_text())
    config |= change
    config = {name: value for name, value in config.items() if value is not None}
    (run / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=said):
        crowdwise.load(run)


@pytest.mark.parametrize("text", ["", "[1]", "nothing", '{"net": ', "[" * 100_000, "\xff"])
def test_a_config_that_is_no_json_object(run: Path, text: str) -> None:
    (run / "config.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        crowdwise.load(run)


def test_weights_that_are_not_the_models(run: Path) -> None:
    path = run / "model.safetensors"
    weights = load_file(path)
    first = sorted(weights)[0]
    save_file({name: value for name, value in weights.items() if name != first}, path)
    refused(run, f"{first} is missing")
    save_file(weights | {"more": torch.zeros(1)}, path)
    refused(run, "more is .*asks for no such weight")
    save_file(weights | {first: weights[first][None].contiguous()}, path)
    refused(run, f"{first} is ")


def test_a_header_that_promises_more_than_there_is(run: Path) -> None:
    path = run / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 2**62) + b"{}")
    refused(run, "no readable weights")
    header = json.dumps({"w": {"dtype": "F32", "shape": [10**15], "data_offsets": [0, 4 * 10**15]}})
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode())
    refused(run, "no readable weights")


def test_tables_that_are_others(run: Path) -> None:
    pl.DataFrame({"label": [1]}).write_parquet(run / "consensus.parquet")
    refused(run, "consensus.parquet: there is no column 'item'")
    annotators = pl.read_parquet(run / "annotators.parquet")
    annotators.write_parquet(run / "consensus.parquet")
    refused(run, "consensus.parquet: there is no column 'item'")


def test_confusions_of_another_kind(run: Path) -> None:
    path = run / "annotators.parquet"
    annotators = pl.read_parquet(path)
    annotators.with_columns(confusion=pl.lit("x")).write_parquet(path)
    refused(run, "confusions in annotators.parquet are String")
    annotators.drop("confusion").write_parquet(path)
    refused(run, "annotators.parquet: there is no column 'confusion'")
    annotators[:2].write_parquet(path)
    refused(run, "3 annotators, annotators.parquet has 2")


def test_no_run_and_no_finished_run(run: Path, tmp_path: Path) -> None:
    (run / "done").unlink()
    refused(run, "not finished")
    with pytest.raises(InputError, match=r"no config\.json"):
        crowdwise.load(tmp_path / "nowhere")


def test_same_seed_same_files(tmp_path: Path) -> None:
    for name in ("first", "second"):
        CrowdClassifier(net="mlp", epochs=2, seed=4).fit(X, DENSE).save(tmp_path / name)
    first = {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()}
    second = {path.name: path.read_bytes() for path in (tmp_path / "second").iterdir()}
    assert first.keys() == second.keys()
    takes_time = ("times.jsonl", "report.html")  # the page names the folder and the time as well
    assert [n for n in first if n not in takes_time and first[n] != second[n]] == []


def test_weights_are_bytes_of_their_values_alone(tmp_path: Path) -> None:
    base = torch.arange(12.0).reshape(3, 4)
    write_weights(tmp_path / "a", {"w": base.T, "b": base[0]})
    write_weights(tmp_path / "b", {"b": base[0].clone(), "w": base.T.contiguous()})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
