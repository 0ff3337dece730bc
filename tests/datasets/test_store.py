"""Getting, finding and checking files, on two small data sets served from loopback."""

import gzip
import hashlib
import io
import os
import socket
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdwise import datasets
from crowdwise.datasets import recipes, registry, store
from crowdwise.datasets.recipes import Download, File, Recipe
from crowdwise.datasets.registry import Entry
from crowdwise.datasets.source import folder
from crowdwise.errors import InputError
from tests.datasets.loopback import Server, cut_off, raw, serving, whole

PLAIN, ZIPPED = b"item,label\n1,cat\n", b"\0\1\2" * 1000


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


PACKED = (File("one.csv", sha256(PLAIN), len(PLAIN)), File("two.bin", None, len(ZIPPED)))
SINGLE = (File("x.gz", sha256(ZIPPED), len(ZIPPED), gunzipped=True),)


def archive(**members: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(f"set/{name.replace('_', '.')}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


ARCHIVE = archive(one_csv=PLAIN, two_bin=ZIPPED, other_csv=b"x")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """`packed` comes as an archive of known sha256, `single` as a gzip file known by its content,
    `secret` has no address, `unknown` no sha256."""
    monkeypatch.delenv("CROWDWISE_DATA", raising=False)
    with serving() as server:
        urls = (f"{server.address}/file",)
        packed = Download("all.tar.gz", urls, 10_000, sha256(ARCHIVE), unpacks_to=100_000)
        unsure = Download("all.tar.gz", urls, 10_000, unpacks_to=100_000)
        single = Download("x.gz", urls, 10_000)
        for name, form, downloads in [
            ("packed", PACKED, (packed,)),
            ("single", SINGLE, (single,)),
            ("secret", PACKED, ()),
            ("unknown", PACKED, (unsure,)),
        ]:
            recipe = Recipe(name, (form,), 100, "they are in a drawer", downloads)

            def load(root: object, recipe: Recipe = recipe) -> None:
                for file in recipe.complete(folder(None, recipe.folder)):
                    if not (folder(None, recipe.folder) / file.name).read_bytes():
                        raise InputError("its shape is wrong")

            monkeypatch.setitem(registry.ENTRIES, name, Entry(name, "none", load, (recipe,)))
        yield server


def get(name: str, origin: Path | None = None) -> Path:
    (place,) = store.get(name, origin, timeout=0.5, pause=0.001)
    return place


def nothing_left(cache: Path) -> bool:
    return not [path for path in cache.rglob("*") if path.is_file()]


def test_an_archive_is_fetched_unpacked_and_found(server: Server, cache: Path) -> None:
    server.answers = [cut_off(ARCHIVE, 100), whole(ARCHIVE)]
    place = get("packed")
    assert place == cache / "packed"
    assert sorted(path.name for path in place.iterdir()) == ["SHA256SUMS", "one.csv", "two.bin"]
    assert (place / "two.bin").read_bytes() == ZIPPED
    assert store.folders("packed") == [place]
    assert folder(None, "packed") == place
    assert [path.name for path in cache.iterdir() if path.is_file()] == []
    assert not (cache / ".downloads/packed/all.tar.gz").exists()
    get("packed")
    assert len(server.paths) == 2  # what is here is not fetched again


def test_a_gzip_file_is_known_by_what_it_holds(server: Server) -> None:
    server.answers = [whole(gzip.compress(ZIPPED, 1, mtime=7))]
    assert gzip.decompress((get("single") / "x.gz").read_bytes()) == ZIPPED


@pytest.mark.parametrize(
    "content", [gzip.compress(b"other"), b"<html>log in</html>", gzip.compress(bytes(10**6))]
)
def test_a_wrong_file_is_not_kept(server: Server, cache: Path, content: bytes) -> None:
    server.answers = [whole(content)]
    with pytest.raises(InputError, match="this is another file"):
        get("single")
    assert nothing_left(cache)


def test_an_archive_with_a_wrong_file_is_not_kept(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = tuple(File(file.name, sha256(PLAIN), len(PLAIN)) for file in PACKED)
    entry = registry.ENTRIES["unknown"]
    recipe = Recipe("unknown", (known,), 100, "", entry.recipes[0].downloads)
    monkeypatch.setitem(registry.ENTRIES, "unknown", Entry("", "none", entry.load, (recipe,)))
    server.answers = [whole(archive(one_csv=PLAIN, two_bin=PLAIN[::-1]))]
    with pytest.raises(InputError, match=r"unknown/two\.bin: its sha256 is .* it should be"):
        get("unknown")
    assert nothing_left(cache)
    server.answers = [whole(archive(one_csv=PLAIN, two_bin=PLAIN))]
    assert get("unknown") == cache / "unknown"


@pytest.mark.parametrize(
    ("name", "why"),
    [("secret", "they are in a drawer"), ("unknown", r"no sha256 is known of all\.tar\.gz")],
)
def test_what_could_not_be_checked_is_not_downloaded(server: Server, name: str, why: str) -> None:
    with pytest.raises(InputError, match=f"{why}.*crowdwise data get {name} --from FOLDER"):
        get(name)
    assert server.paths == []


@pytest.mark.parametrize("below", ["", "secret"])
def test_files_from_a_folder(server: Server, tmp_path: Path, cache: Path, below: str) -> None:
    place = tmp_path / below
    place.mkdir(exist_ok=True)
    (place / "one.csv").write_bytes(PLAIN)
    with pytest.raises(InputError, match="neither it nor its folder secret/ holds"):
        get("secret", tmp_path)
    (place / "two.bin").write_bytes(ZIPPED)
    assert get("secret", tmp_path) == cache / "secret"
    assert (cache / "secret/one.csv").read_bytes() == PLAIN
    assert server.paths == []


def test_an_archive_from_a_folder(server: Server, tmp_path: Path, cache: Path) -> None:
    (tmp_path / "all.tar.gz").write_bytes(ARCHIVE)
    assert get("packed", tmp_path) == cache / "packed"
    assert (tmp_path / "all.tar.gz").exists()
    (tmp_path / "all.tar.gz").write_bytes(ARCHIVE[:-1])
    with pytest.raises(InputError, match=r"all\.tar\.gz: its sha256 is .*get it again"):
        get("packed", tmp_path)
    assert server.paths == []


def test_wrong_files_from_a_folder_change_nothing(server: Server, tmp_path: Path) -> None:
    server.answers = [whole(ARCHIVE)]
    place = get("packed")
    for name in ("one.csv", "two.bin"):
        (tmp_path / name).write_bytes(b"x" * len(ZIPPED))
    with pytest.raises(InputError, match=r"packed/one\.csv: it holds 3,000 bytes or more"):
        get("packed", tmp_path)
    assert (place / "one.csv").read_bytes() == PLAIN
    assert (place / "two.bin").read_bytes() == ZIPPED


def test_a_folder_that_is_not_there(server: Server) -> None:
    with pytest.raises(InputError, match="/nowhere: there is no such folder; give --from"):
        get("packed", Path("/nowhere"))


def test_crowdwise_data_goes_before_the_cache(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = [whole(ARCHIVE)]
    get("packed")
    monkeypatch.setenv("CROWDWISE_DATA", str(tmp_path))
    mine = tmp_path / "packed"
    mine.mkdir()
    (mine / "one.csv").write_bytes(PLAIN)
    with pytest.raises(InputError, match=r"two\.bin not there, and CROWDWISE_DATA is read before"):
        get("packed")
    (mine / "two.bin").write_bytes(ZIPPED)
    assert get("packed") == mine
    assert get("packed", tmp_path) == mine


def test_a_second_start_fetches_what_is_missing_only(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = registry.ENTRIES["single"]
    forms = tuple(File(name, sha256(ZIPPED), len(ZIPPED), True) for name in ("x.gz", "y.gz"))
    both = tuple(Download(f.name, (f"{server.address}/{f.name}",), 10_000) for f in forms)
    recipe = Recipe("single", (forms,), 1, "", both)
    monkeypatch.setitem(registry.ENTRIES, "single", Entry("", "none", entry.load, (recipe,)))
    server.answers = [whole(gzip.compress(ZIPPED)), raw(404, Content_Length=0)]
    with pytest.raises(InputError, match=r"y\.gz could not be downloaded"):
        get("single")
    server.answers = [whole(gzip.compress(ZIPPED))]
    get("single")
    assert server.paths == ["/x.gz", "/y.gz", "/y.gz"]


def test_verify_tells_what_is_known_and_what_is_wrong(server: Server) -> None:
    server.answers = [whole(ARCHIVE)]
    place = get("packed")
    found = list(store.verify("packed"))
    assert [(one.path.name, one.wrong, one.known) for one in found] == [
        ("one.csv", None, "sha256"),
        ("two.bin", None, "sha256 as when it was put here"),
    ]
    (place / "two.bin").write_bytes(ZIPPED[::-1])
    wrong = [one.wrong for one in store.verify("packed")]
    assert wrong[0] is None
    assert "its sha256 is" in str(wrong[1])
    (place / "SHA256SUMS").unlink()
    assert [one.known for one in store.verify("packed")][1] == "no sha256 is known"
    (place / "two.bin").unlink()
    with pytest.raises(InputError, match="packed/ is not here, or not whole"):
        list(store.verify("packed"))


def test_verify_loads_what_it_found_right(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers = [whole(ARCHIVE)]
    get("packed")

    def load(root: object) -> None:
        raise InputError("the shapes are wrong")

    entry = Entry("", "none", load, registry.ENTRIES["packed"].recipes)
    monkeypatch.setitem(registry.ENTRIES, "packed", entry)
    with pytest.raises(InputError, match="the shapes are wrong"):
        list(store.verify("packed"))


def test_nothing_but_get_opens_a_connection(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all.tar.gz").write_bytes(ARCHIVE)

    def connect(*args: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", connect)
    get("packed", tmp_path)
    list(store.verify("packed"))
    datasets.load("packed")
    for name in ("music", "single"):
        with pytest.raises(InputError):
            datasets.load(name)
        with pytest.raises(InputError):
            store.folders(name)


def every_recipe() -> list[Recipe]:
    return [recipe for name in datasets.names() for recipe in datasets.describe(name).recipes]


def test_the_recipes_are_sound() -> None:
    for recipe in every_recipe():
        assert recipe.unchecked() == []
        names = {file.name for file in recipe.forms[0]}
        for file in recipe.forms[0]:
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
            assert file.size
        for download in recipe.downloads:
            assert download.unpacks_to or download.name in names
            assert all(url.startswith(("https://", "http://")) for url in download.urls)
        if recipe.downloads and not recipe.downloads[0].unpacks_to:
            assert {download.name for download in recipe.downloads} == names


@pytest.mark.parametrize(
    "recipe",
    [
        recipes.MUSIC,
        recipes.LABELME,
        recipes.CIFAR10N,
        recipes.CIFAR10_FEATURES,
        recipes.FASHION_MNIST,
    ],
    ids=lambda recipe: recipe.folder,
)
def test_the_recipes_are_those_of_the_real_files(recipe: Recipe) -> None:
    root = os.environ.get("CROWDWISE_DATA")
    place = Path(root or "/nowhere") / recipe.folder
    if not place.is_dir():
        pytest.skip(f"{recipe.folder}/ is not in CROWDWISE_DATA")
    assert [file.wrong(place / file.name) for file in recipe.forms[0]] == [None] * len(
        recipe.forms[0]
    )
    on_disk = sum((place / file.name).stat().st_size for file in recipe.forms[0])
    assert abs(on_disk - recipe.size) < 200  # gzip headers may differ
