"""Features from files: every form gives the same rows, every fault one sentence that names it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdwise import Annotations
from crowdwise.batches.features import Features, read_features
from crowdwise.errors import InputError

X = np.array([[0.5, 1.0], [2.0, -3.0], [4.0, 0.0]], dtype=np.float32)
IDS = ["007", "b c", "é"]


def rows(features: Features) -> dict[str, list[float]]:
    assert features.items is not None
    return dict(zip(features.items, features.x.tolist(), strict=True))


WANTED = dict(zip(IDS, X.tolist(), strict=True))


@pytest.fixture
def table() -> pl.DataFrame:
    return pl.DataFrame({"Task_ID": IDS, "a": X[:, 0], "b": X[:, 1]})[::-1]


def test_a_matrix_with_ids_beside_it(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "ids.txt").write_text("\ufeff" + "\n".join(IDS) + "\n\n", encoding="utf-8")
    np.save(tmp_path / "ids.npy", np.array(IDS))
    for ids in ("ids.txt", "ids.npy"):
        assert rows(read_features(tmp_path / "x.npy", tmp_path / ids)) == WANTED
    assert read_features(tmp_path / "x.npy").items is None


def test_an_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=X, items=np.array(IDS))
    assert rows(read_features(tmp_path / "x.npz")) == WANTED


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_a_table_keyed_by_item_as_it_is_written(
    tmp_path: Path, table: pl.DataFrame, kind: str
) -> None:
    path = tmp_path / f"x.{kind}"
    if kind == "parquet":
        table.write_parquet(path)
    else:
        table.write_csv(path, separator="\t" if kind == "tsv" else ",")
    found = read_features(path)
    assert rows(found) == WANTED
    assert found.x.dtype == np.float32
    named = read_features(path, item="Task_ID")
    assert rows(named) == WANTED


def test_the_crowds_column_name_serves_where_the_table_has_it(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("picture,a\n1,2\n")
    assert read_features(path, item="picture").items == ["1"]
    path.write_text("item,a\n1,2\n")
    assert read_features(path, item="picture").items == ["1"]


@pytest.mark.parametrize("kind", [pl.List(pl.Float64), pl.Array(pl.Float32, 2)])
def test_parquet_may_hold_vectors(tmp_path: Path, kind: pl.DataType) -> None:
    path = tmp_path / "x.parquet"
    vectors = pl.Series("v", X.tolist(), dtype=kind)
    pl.DataFrame({"item": IDS, "v": vectors, "extra": [True, False, True]}).write_parquet(path)
    assert read_features(path).x.tolist() == np.c_[X, [1, 0, 1]].tolist()


def test_numbers_become_fractions_late_in_a_long_column(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("item,a\n" + "".join(f"{i},1\n" for i in range(500)) + "500,0.25\n")
    assert read_features(path).x[-1].tolist() == [0.25]


def test_rows_without_names_are_counted_where_items_are_numbers() -> None:
    counted = Annotations.from_triples([0, 2, 2], ["ann", "ann", "bob"], [0, 1, 1])
    assert list(Features(X, None).items_for(counted)) == [0, 1, 2]
    assert Features(X, IDS).items_for(counted) == IDS
    named = Annotations.from_triples(["a", "b"], ["ann", "ann"], [0, 1])
    with pytest.raises(InputError, match=r"have names .such as a.*--items"):
        Features(X, None).items_for(named)


def parquet(path: Path, **columns: object) -> None:
    pl.DataFrame(columns).write_parquet(path)


def ragged(path: Path) -> None:
    parquet(path, item=["p", "q"], v=[[1.0, 2.0], [3.0]])


def a_gap_in_a_list(path: Path) -> None:
    parquet(path, item=["p", "q"], v=[[1.0, 2.0], [3.0, None]])


def an_archive_of_others(path: Path) -> None:
    np.savez(path, features=X)


def a_cut_archive(path: Path) -> None:
    np.savez(path, x=np.zeros((50, 50)))
    path.write_bytes(path.read_bytes()[:300])


def a_pickle(path: Path) -> None:
    np.save(path, np.array([{"a": 1}, [2]], dtype=object), allow_pickle=True)


def a_cut_matrix(path: Path) -> None:
    np.save(path, X)
    path.write_bytes(path.read_bytes()[:-5])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", "a,b\n1,2\n", "no column looks like the item"),
        ("x.csv", "item,task,a\n1,2,3\n", "could each be the item"),
        ("x.csv", "item,a,b\n1,2,3\n2,hello,3\n", "column 'a' holds String, no numbers"),
        ("x.csv", "item,a,b\n1,2,3\nq2,,3\n", "item q2 has no value in column 'a'"),
        ("x.csv", "item,a,b\n1,2,3\nq2,4\n", "item q2 has no value in column 'b'"),
        ("x.csv", "item,a\n1,2,3\n", "cannot be read as features"),
        ("x.csv", "item\n1\n2\n", "no column beside 'item'"),
        ("x.csv", "", "cannot be read as features"),
        ("x.csv", b"item,a\n\xff\xfe,2\n", "cannot be read as features"),
        ("x.parquet", b"PAR1 is not enough", "cannot be read as features"),
        ("x.parquet", ragged, "item q has 1 numbers in column 'v', others have 2"),
        ("x.parquet", a_gap_in_a_list, "item q has no value in column 'v'"),
        ("x.npy", b"", "cannot be read as features"),
        ("x.npy", a_pickle, "cannot be read as features"),
        ("x.npy", a_cut_matrix, "cannot be read as features"),
        ("x.npy", lambda path: np.save(path, X[:, 0]), r"this is float32 of shape \(3,\)"),
        ("x.npy", lambda path: np.save(path, X[:, :0]), r"of shape \(3, 0\)"),
        ("x.npy", lambda path: np.save(path, np.array([["a"]])), "must be numbers.*<U1"),
        ("x.npy", lambda path: np.save(path, X * 1j), "must be numbers.*complex"),
        ("x.npz", an_archive_of_others, "has arrays 'features'; name the features x"),
        ("x.npz", a_cut_archive, "cannot be read as features"),
        ("x.npz", b"PK\x03\x04", "cannot be read as features"),
        ("x.txt", "1 2 3", "features are read from .npy"),
    ],
)
def test_a_fault_is_one_sentence(tmp_path: Path, name: str, content: object, said: str) -> None:
    path = tmp_path / name
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=said) as raised:
        read_features(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def test_ids_that_do_not_fit(tmp_path: Path) -> None:
    path, ids = tmp_path / "x.npy", tmp_path / "ids.txt"
    np.save(path, X)
    ids.write_text("a\nb\n")
    with pytest.raises(InputError, match=r"ids.txt: 2 item ids for 3 rows"):
        read_features(path, ids)
    ids.write_bytes(b"\xff\n\xfe\n")
    with pytest.raises(InputError, match=r"ids.txt: cannot be read as item ids"):
        read_features(path, ids)
    with pytest.raises(InputError, match=r"absent: cannot be read .*No such file"):
        read_features(path, tmp_path / "absent")
    with pytest.raises(InputError, match=r"absent.npy: cannot be read .*No such file"):
        read_features(tmp_path / "absent.npy")
    (tmp_path / "x.csv").write_text("item,a\n1,2\n")
    with pytest.raises(InputError, match="a table names its items itself"):
        read_features(tmp_path / "x.csv", ids)
