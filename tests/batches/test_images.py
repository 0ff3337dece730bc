"""Folders of images: names, sizes, what cannot be read, and training on a stream."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData, ImageFolder, StreamSource, TensorSource
from crowdwise.errors import InputError

Image = pytest.importorskip("PIL.Image")
H, W = 6, 4


def pixels(seed=0, shape=(H, W, 3)):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pets").mkdir()
    for seed, name in enumerate(["cat", "dog", "pets/eel"]):
        Image.fromarray(pixels(seed)).save(tmp_path / f"{name}.png")
    (tmp_path / "notes.txt").write_text("no image")
    return tmp_path


def test_images_by_item_in_the_order_of_the_items(folder):
    images = ImageFolder(folder, ["pets/eel", "cat.png"])
    assert len(images) == 2
    for image, seed in zip([images[0], images[1]], [2, 0], strict=True):
        assert image.dtype == torch.float32
        np.testing.assert_array_equal(
            image.numpy(), pixels(seed).transpose(2, 0, 1) / np.float32(255)
        )


def test_every_image_below_the_folder_in_order(folder):
    assert [str(path) for path in ImageFolder(folder).files] == [
        "cat.png",
        "dog.png",
        "pets/eel.png",
    ]


def test_size_and_mode(folder):
    assert ImageFolder(folder, size=(3, 5))[0].shape == (3, 3, 5)
    assert ImageFolder(folder, mode="L")[0].shape == (1, H, W)


def test_sixteen_bits_of_grey_are_scaled_not_clipped(tmp_path):
    grey = np.array([[0, 32768], [65535, 257]], dtype=np.uint16)
    Image.fromarray(grey).save(tmp_path / "a.png")
    image = ImageFolder(tmp_path, mode="L")[0][0].numpy()
    np.testing.assert_allclose(image, grey / 65535, atol=1 / 255)


def test_a_photograph_is_turned_upright(tmp_path):
    image = Image.fromarray(pixels())
    exif = image.getexif()
    exif[0x0112] = 6  # the camera was held on its side
    image.save(tmp_path / "a.jpg", exif=exif)
    assert ImageFolder(tmp_path)[0].shape == (3, W, H)


def test_a_missing_image_is_named_by_its_item(folder):
    with pytest.raises(InputError, match=r"item cow: .* no image of that name"):
        ImageFolder(folder, ["cat", "cow"])


def test_two_files_of_one_name_need_their_endings(folder):
    Image.fromarray(pixels()).save(folder / "cat.bmp")
    with pytest.raises(InputError, match=r"item cat: .*cat\.bmp, cat\.png"):
        ImageFolder(folder, ["cat"])
    assert len(ImageFolder(folder, ["cat.bmp", "cat.png"])) == 2


def test_an_image_of_another_size_is_named(folder):
    Image.fromarray(pixels(shape=(H, W + 1, 3))).save(folder / "dog.png")
    images = ImageFolder(folder)
    with pytest.raises(
        InputError, match=r"dog\.png: is 6×5 pixels, but cat\.png is 6×4; give a size"
    ):
        images[1]


@pytest.mark.parametrize("keep", [0, 8, 40, -30])
def test_a_corrupt_image_is_named(folder, keep):
    path = folder / "dog.png"
    path.write_bytes(path.read_bytes()[:keep])
    images = ImageFolder(folder)
    with pytest.raises(InputError, match=r"dog\.png: cannot be read as an image"):
        images[1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_a_changed_byte_gives_an_image_or_one_sentence(folder, place, byte):
    data = bytearray((folder / "cat.png").read_bytes())
    data[place % len(data)] = byte
    (folder / "dog.png").write_bytes(data)
    try:
        shape = ImageFolder(folder, ["dog"], size=(2, 2))[0].shape
    except InputError as error:
        shape = str(error)
    assert "dog.png" in shape if isinstance(shape, str) else shape == (3, 2, 2)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_corrupt_image_ends_the_stream_in_one_sentence(folder, workers):
    (folder / "pets/eel.png").write_bytes(b"no png")
    source = StreamSource(ImageFolder(folder), workers=workers)
    with pytest.raises(InputError) as caught:
        list(source.batches(torch.arange(3), 2))
    assert str(caught.value).startswith(str(folder / "pets/eel.png"))
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stream_gives_what_a_tensor_gives_and_draws_nothing(folder, workers):
    images = ImageFolder(folder)
    tensor = TensorSource(torch.stack([images[i] for i in range(3)]))
    stream = StreamSource(images, workers=workers)
    assert stream.item_shape == tensor.item_shape
    order = torch.tensor([2, 0, 1])
    before = torch.get_rng_state()
    for streamed, whole in zip(stream.batches(order, 2), tensor.batches(order, 2), strict=True):
        assert torch.equal(streamed, whole)
    assert torch.equal(stream.take(order), tensor.take(order))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_folder_is_a_training_set(folder):
    crowd = Annotations.from_triples(["cat", "cat", "dog"], ["ann", "bob", "bob"], [0, 1, 1])
    data = CrowdData(StreamSource(ImageFolder(folder, crowd.item_ids)), crowd)
    assert data.shape.input == (3, H, W)
    (batch,) = data.epoch(data.labelled, 8)
    assert batch.x.shape == (2, 3, H, W)


def test_no_folder_and_no_images(tmp_path):
    with pytest.raises(InputError, match="is no folder"):
        ImageFolder(tmp_path / "absent")
    with pytest.raises(InputError, match="there is no image"):
        ImageFolder(tmp_path)


def test_without_pillow_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(InputError, match=r"pip install 'crowdwise\[images\]'"):
        ImageFolder(folder)
