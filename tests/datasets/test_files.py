"""Names, missing folders, missing and damaged files; and the forms that are read."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from crowdwise import datasets
from crowdwise.datasets import cifar10, cifar10n, fashion_mnist, music
from crowdwise.datasets.dataset import Dataset
from crowdwise.errors import InputError

NEED_FILES = [name for name in datasets.names() if name != "digits"]
FILES = {
    "music": "music/music_genre_gold.csv",
    "labelme": "labelme/labelme_vgg16_f16_original.npz",
    "cifar10": "cifar10/data_batch_1.png",
    "cifar10n-features": "cifar10-features/lite0_pca256_f16.npz",
    "fashion-mnist": "fashion-mnist/train-images-idx3-ubyte.gz",
}


def put(root: Path, name: str, content: bytes) -> Path:
    path = root / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_every_name_has_one_line_and_a_licence() -> None:
    for name in datasets.names():
        entry = datasets.describe(name)
        assert entry.summary
        assert entry.licence
        assert "\n" not in entry.summary + entry.licence
        assert len(entry.summary) <= 100


def test_the_page_names_them_all() -> None:
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    for name in datasets.names():
        assert f"`{name}`" in page
        assert datasets.describe(name).licence in page


def test_an_unknown_name() -> None:
    with pytest.raises(InputError, match="no data set is named 'mnist'; choose among music,"):
        datasets.load("mnist")


@pytest.mark.parametrize("name", NEED_FILES)
def test_nowhere_to_look(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDWISE_DATA", raising=False)
    with pytest.raises(InputError, match="set CROWDWISE_DATA, or give root="):
        datasets.load(name)


@pytest.mark.parametrize("name", NEED_FILES)
def test_nothing_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="there is no such folder"):
        datasets.load(name)


def test_root_goes_before_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_DATA", "/nowhere")
    with pytest.raises(InputError, match=str(tmp_path)):
        datasets.load("music", root=tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    path = put(tmp_path, name, b"")
    path.unlink()
    with pytest.raises(InputError, match=f"{path}: the data set needs this file"):
        datasets.load(name, tmp_path)


@pytest.mark.parametrize("content", [b"", b"not what it should be", b"PK\3\4 and no more"])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(name: str, content: bytes, tmp_path: Path) -> None:
    path = put(tmp_path, name, content)
    with pytest.raises(InputError, match=f"{path}.*get it again"):
        datasets.load(name, tmp_path)


def test_a_cut_off_archive_is_named(tmp_path: Path) -> None:
    whole = gzip.compress(np.random.default_rng(0).bytes(10_000))
    path = put(tmp_path, "fashion-mnist", whole[:5_000])
    with pytest.raises(InputError, match=f"{path}: damaged"):
        datasets.load("fashion-mnist", tmp_path)


def test_pickles_are_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "labelme", b"")
    np.savez(path, X_train=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match=f"{path}.*allow_pickle=False"):
        datasets.load("labelme", tmp_path)


def test_a_missing_or_misshapen_array_is_named(tmp_path: Path) -> None:
    path = put(tmp_path, "labelme", b"")
    np.savez(path, X_valid=np.zeros(1))
    with pytest.raises(InputError, match=f"{path}.*X_train"):
        datasets.load("labelme", tmp_path)
    np.savez(path, X_train=np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"X_train has shape \(2, 3\), it should be \(1000, 4"):
        datasets.load("labelme", tmp_path)


def write_music(root: Path, heard_class: str = "rock", heard_piece: str = "p0") -> None:
    head = ",".join(music.FEATURES)
    numbers = np.random.default_rng(0).normal(size=(700, 124)).round(3)
    rows = [",".join(map(str, row)) for row in numbers]
    genres = ["rock" if i % 2 else "pop" for i in range(700)]
    gold = [f"p{i},{rows[i]},{genres[i]}" for i in range(700)]
    put(root, "music", "\n".join([f"id,{head},class", *gold]).encode())
    test = "\n".join([f"id,{head},class", *gold[:300]])
    (root / "music/music_genre_test.csv").write_text(test)
    mturk = f"id,annotator,{head},class\np3,w2,{rows[3]},pop\n{heard_piece},w1,{rows[0]},"
    (root / "music/music_genre_mturk.csv").write_text(mturk + heard_class + "\n")


def test_music_goes_by_the_pieces_names(tmp_path: Path) -> None:
    write_music(tmp_path)
    data = datasets.load("music", tmp_path)
    crowd = data.annotations
    assert crowd is not None
    assert crowd.n_items == 700  # also those that nobody heard
    assert crowd.item.tolist() == [3, 0]
    assert crowd.annotator_ids[crowd.annotator].tolist() == ["w2", "w1"]
    assert crowd.classes[crowd.label].tolist() == ["pop", "rock"]


@pytest.mark.parametrize("strange", [{"heard_class": "polka"}, {"heard_piece": "q9"}])
def test_music_with_a_strange_value_says_the_row(tmp_path: Path, strange: dict[str, str]) -> None:
    write_music(tmp_path, **strange)
    value = next(iter(strange.values()))
    with pytest.raises(InputError, match=f"music_genre_mturk.csv, row 3: .* '{value}'"):
        datasets.load("music", tmp_path)


def test_music_with_a_hole(tmp_path: Path) -> None:
    write_music(tmp_path, heard_class="")
    with pytest.raises(InputError, match=r"music_genre_mturk.csv: a value is missing"):
        datasets.load("music", tmp_path)


def test_idx_files_are_read_by_their_header(tmp_path: Path) -> None:
    values = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    path = tmp_path / "images.gz"
    header = bytes([0, 0, 8, 3]) + np.array([2, 3, 4], dtype=">i4").tobytes()
    path.write_bytes(gzip.compress(header + values.tobytes()))
    np.testing.assert_array_equal(fashion_mnist.read_idx(path), values)


def images(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, size=(count, 3, 32, 32)).astype(np.uint8)


def test_both_forms_of_cifar10_hold_the_same_pixels(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="reading PNG files needs Pillow")
    x, y = images(7), np.arange(7, dtype=np.uint8)
    (tmp_path / "a.bin").write_bytes(np.hstack([y[:, None], x.reshape(7, -1)]).tobytes())
    image.fromarray(x.transpose(0, 2, 3, 1).reshape(7, 1024, 3)).save(tmp_path / "a.png")
    binary, labels = cifar10.read_bin(tmp_path / "a.bin")
    np.testing.assert_array_equal(binary, x)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(cifar10.read_sprites(tmp_path / "a.png"), x)


def test_a_label_out_of_range_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(bytes([10]) + bytes(3072))
    with pytest.raises(InputError, match=f"{path}: the first byte of an image holds 10 to 10"):
        cifar10.read_bin(path)


def write_cifar10(root: Path, count: int) -> None:
    image = pytest.importorskip("PIL.Image", reason="reading PNG files needs Pillow")
    (root / "cifar10").mkdir()
    for name in [*cifar10.TRAIN_BATCHES, "test_batch"]:
        rows = images(count).transpose(0, 2, 3, 1).reshape(count, 1024, 3)
        image.fromarray(rows).save(root / "cifar10" / f"{name}.png")
    for part, n in [("train", 5 * count), ("test", count)]:
        labels = [i % 10 for i in range(n)]
        (root / "cifar10" / f"{part}_lables.json").write_text(json.dumps(labels))


def test_too_few_images_are_said(tmp_path: Path) -> None:
    write_cifar10(tmp_path, 20)
    with pytest.raises(InputError, match="100 training images with 100 labels and 20 test images"):
        datasets.load("cifar10", tmp_path)


def small_cifar10n(root: Path, monkeypatch: pytest.MonkeyPatch, clean: np.ndarray) -> Dataset:
    monkeypatch.setattr(cifar10, "TRAIN", 100)
    monkeypatch.setattr(cifar10, "TEST", 20)
    write_cifar10(root, 20)
    (root / "cifar10n").mkdir()
    labels = {f"random_label{k}": (clean + k) % 10 for k in (1, 2, 3)}
    worker = np.arange(300).reshape(100, 3)
    np.savez(root / "cifar10n/cifar10n_compact.npz", clean_label=clean, worker=worker, **labels)
    return cifar10n.load(root)


def test_cifar10n_gives_each_picture_its_three_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = small_cifar10n(tmp_path, monkeypatch, np.arange(100) % 10)
    crowd, truth = data.annotations, data.y_train
    assert crowd is not None
    assert truth is not None
    assert data.x_train.shape == (90, 3, 32, 32)
    assert data.info["valid_rows"].tolist() == list(range(90, 100))
    assert (crowd.n_annotators, len(crowd)) == (747, 270)
    np.testing.assert_array_equal((crowd.label - truth[crowd.item]) % 10, [1, 2, 3] * 90)
    np.testing.assert_array_equal(crowd.annotator // 3, crowd.item)
    np.testing.assert_allclose(data.x_train[:20] * 255, images(20), atol=1e-4)


def test_cifar10n_refuses_pictures_in_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="not in CIFAR-10's order"):
        small_cifar10n(tmp_path, monkeypatch, np.arange(100)[::-1] % 10)


def test_digits_need_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDWISE_DATA", raising=False)
    one, two = datasets.load("digits"), datasets.load("digits")
    assert (one.x_train.shape, one.x_test.shape) == ((1437, 64), (360, 64))
    assert one.y_train is not None
    assert one.x_train.tobytes() == two.x_train.tobytes()
    assert one.x_train.dtype == np.float32
    assert (one.x_train.min(), one.x_train.max()) == (0, 1)
    x, y = load_digits(return_X_y=True)
    both = np.concatenate([one.x_train, one.x_test])
    labels = np.concatenate([one.y_train, one.y_test])
    known = {
        (row / 16).astype(np.float32).tobytes(): label for row, label in zip(x, y, strict=True)
    }
    assert all(known[row.tobytes()] == label for row, label in zip(both, labels, strict=True))
    assert np.ptp(np.bincount(one.y_test)) <= 2  # stratified
