"""Features that stay in their file: the same rows as a tensor, and never the whole file."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData, MappedSource, TensorSource, features, mapped
from crowdwise.batches.features import read_features
from crowdwise.batches.mapped import source_of
from crowdwise.errors import InputError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mapped")


def on_disk(folder: Path, x: np.ndarray) -> np.memmap:
    path = folder / f"{x.dtype.str}-{'x'.join(map(str, x.shape))}.npy"
    np.save(path, x)
    return np.load(path, mmap_mode="r")


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["f2", "f4", "f8", ">f4", "u1", "i4"]),
    st.lists(st.integers(0, 36), min_size=1, max_size=90),
    st.integers(1, 40),
    st.integers(1, 2000),
    st.integers(1, 50),
)
def test_rows_are_those_of_a_tensor(folder, kind, order, batch_size, span, piece):
    x = (np.random.default_rng(0).normal(size=(37, 2, 3)) * 9).clip(0).astype(kind)
    tensor = TensorSource(x.astype(x.dtype.newbyteorder("=")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped, "SPAN", span)  # spans, pieces and batches that do not fit together
        patch.setattr(mapped, "HELD", piece * mapped.AROUND)
        source = MappedSource(on_disk(folder, x))
        got = list(source.batches(torch.tensor(order), batch_size))
    expected = list(tensor.batches(torch.tensor(order), batch_size))
    assert [len(part) for part in got] == [len(part) for part in expected]
    for part, whole in zip(got, expected, strict=True):
        assert part.dtype == whole.dtype == torch.float32
        assert torch.equal(part, whole)
    assert torch.equal(source.take(torch.tensor(order)), tensor.take(torch.tensor(order)))
    assert (len(source), source.item_shape) == (37, (2, 3))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_the_first_value_that_is_not_finite_is_found(folder, kind, value, monkeypatch):
    monkeypatch.setattr(mapped, "SPAN", 64)
    x = np.zeros((100, 3), kind)
    assert MappedSource(on_disk(folder, x)).not_finite() is None
    x[[61, 97], [2, 0]] = value
    rows = on_disk(folder, x)
    assert MappedSource(rows).not_finite() == 61
    crowd = Annotations.from_triples(np.arange(100), [0] * 100, [0, 1] * 50)
    with pytest.raises(InputError, match="item 61: its features"):
        CrowdData(rows, crowd)


def test_what_has_been_written_to_a_map_is_kept(folder):
    np.save(folder / "w.npy", np.zeros((4, 2), np.float32))
    for mode in ("r+", "c"):
        rows = np.load(folder / "w.npy", mmap_mode=mode)
        rows[1] = 7
        source = MappedSource(rows)
        assert source.not_finite() is None
        assert source.take(torch.tensor([1])).tolist() == [[7.0, 7.0]]


def test_complex_numbers_are_no_features(folder):
    with pytest.raises(InputError, match="numbers"):
        MappedSource(on_disk(folder, np.zeros((3, 2), "S1")))


def test_a_large_file_is_mapped_and_a_small_one_is_not(folder, monkeypatch):
    np.save(folder / "x.npy", np.eye(4, dtype=np.float32))
    assert not isinstance(read_features(folder / "x.npy").x, np.memmap)
    monkeypatch.setattr(features, "MAPPED", 32)
    x = read_features(folder / "x.npy").x
    assert isinstance(x, np.memmap)
    assert isinstance(source_of(x), MappedSource)
    np.save(folder / "columns.npy", np.asfortranarray(np.eye(4)))
    assert not isinstance(read_features(folder / "columns.npy").x, np.memmap)
    whole = (folder / "x.npy").read_bytes()
    (folder / "cut.npy").write_bytes(whole[:-5])
    with pytest.raises(InputError, match=r"cut\.npy: cannot be read as features"):
        read_features(folder / "cut.npy")


SCRIPT = """
import resource, sys
import numpy as np, torch
from crowdwise.batches import MappedSource, mapped
mapped.SPAN, mapped.HELD = 2**22, 2**24
source = MappedSource(np.load(sys.argv[1], mmap_mode="r"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
source.not_finite()
order = torch.randperm(len(source), generator=torch.Generator().manual_seed(0))
total = sum(float(part.sum(dtype=torch.float64)) for part in source.batches(order, 256))
print(int(total), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_an_epoch_holds_a_small_part_of_the_file(folder):
    path = folder / "large.npy"
    x = np.lib.format.open_memmap(path, "w+", np.float32, (400_000, 128))  # 205 MB
    x[:] = 1
    x.flush()
    del x
    run = [sys.executable, "-c", SCRIPT, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    total, held = map(int, done.stdout.split())
    path.unlink()
    assert total == 400_000 * 128
    assert held < 60 * 1024, f"{held} KiB of a file of 200,000"
