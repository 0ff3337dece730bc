"""Archives that nobody vouches for: only the wanted files come out, and bad archives not at all."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdwise.datasets.unpack import MEMBERS, unpack
from crowdwise.errors import InputError

Change = Callable[[tarfile.TarInfo], None]
WANTED = {"a.csv": 100, "b.csv": 100}


def archive(path: Path, *members: tuple[str, bytes, Change | None]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content, change in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            if change:
                change(member)
            tar.addfile(member, io.BytesIO(content))
    return path


GOOD = [("set/a.csv", b"1,2", None), ("set/b.csv", b"3,4", None)]


def kind(letter: bytes, link: str = "") -> Change:
    def change(member: tarfile.TarInfo) -> None:
        member.type, member.linkname = letter, link

    return change


def refused(path: Path, limit: int = 10**6) -> str:
    folder = path.parent / "out"
    folder.mkdir()
    with pytest.raises(InputError) as error:
        unpack(path, folder, WANTED, limit)
    assert {found.name for found in path.parent.iterdir()} == {path.name, "out"}
    assert {found.name for found in folder.iterdir()} <= set(WANTED)
    return str(error.value)


def test_only_the_wanted_files_come_out_flat(tmp_path: Path) -> None:
    more = [("set", b"", kind(tarfile.DIRTYPE)), ("set/evil.py", b"x", None)]
    path = archive(tmp_path / "x.tar.gz", *more, *GOOD)
    folder = tmp_path / "out"
    folder.mkdir()
    unpack(path, folder, WANTED, 10**6)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == {"a.csv": b"1,2", "b.csv": b"3,4"}


def test_modes_are_not_taken_over(tmp_path: Path) -> None:
    def all_may(member: tarfile.TarInfo) -> None:
        member.mode = 0o6777

    path = archive(tmp_path / "x.tar.gz", ("a.csv", b"1", all_may), GOOD[1])
    folder = tmp_path / "out"
    folder.mkdir()
    unpack(path, folder, WANTED, 10**6)
    assert (folder / "a.csv").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize(
    "name", ["../a.csv", "/tmp/a.csv", "set/../../a.csv", "..\\a.csv", "C:/a.csv", "x/.."]
)
def test_escapes_are_refused(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / "x.tar.gz", *GOOD, (name, b"evil", None))
    assert "would lie outside its folder" in refused(path)


@pytest.mark.parametrize(
    "change",
    [
        kind(tarfile.SYMTYPE, "/etc/passwd"),
        kind(tarfile.LNKTYPE, "set/a.csv"),
        kind(tarfile.CHRTYPE),
        kind(tarfile.BLKTYPE),
        kind(tarfile.FIFOTYPE),
        kind(tarfile.GNUTYPE_SPARSE),
    ],
    ids=["symlink", "hard link", "character device", "block device", "fifo", "sparse"],
)
def test_all_but_files_and_folders_is_refused(tmp_path: Path, change: Change) -> None:
    path = archive(tmp_path / "x.tar.gz", *GOOD, ("set/c", b"", change))
    message = refused(path)
    assert "is a link, a device" in message or "damaged" in message


def test_a_link_named_like_a_wanted_file(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", ("a.csv", b"", kind(tarfile.SYMTYPE, "/etc/passwd")))
    assert "is a link" in refused(path)


def test_a_wanted_file_that_is_too_long(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", ("a.csv", b"x" * 101, None), GOOD[1])
    assert "a.csv has 101 bytes, at most 100" in refused(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", ("bomb.bin", bytes(5_000_000), None), *GOOD)
    assert path.stat().st_size < 20_000
    assert "unpacks to more than it may" in refused(path)


def test_a_bomb_in_a_header(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("a.csv")
        member.pax_headers = {"comment": "x" * 5_000_000}
        tar.addfile(member)
    assert "unpacks to more than it may" in refused(path)


def test_too_many_files(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", *[(f"{k}", b"", None) for k in range(MEMBERS + 1)])
    assert "more than 10,000 files" in refused(path, limit=10**8)


def test_a_name_twice(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", *GOOD, ("other/a.csv", b"5", None))
    assert "it holds a.csv twice" in refused(path)


def test_a_wanted_file_is_absent(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", GOOD[0], ("._b.csv", b"", None))
    assert "b.csv is not in it" in refused(path)


@pytest.mark.parametrize("keep", [0, 5, 40, 90])
def test_a_cut_off_archive(tmp_path: Path, keep: int) -> None:
    path = archive(tmp_path / "x.tar.gz", *GOOD)
    path.write_bytes(path.read_bytes()[:keep])
    message = refused(path)
    assert message.startswith("x.tar.gz: ")
    assert "get it again" in message


def test_a_tar_that_ends_within_a_file(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", *GOOD)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[: 512 + 1]))
    assert "get it again" in refused(path)


@pytest.mark.parametrize("content", [b"<html>not here</html>", gzip.compress(b"no tar" * 500)])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(content)
    assert "x.tar.gz: damaged, or not the archive it should be" in refused(path)
