"""A disk that is full, a folder that may not be written: one sentence, and nothing is lost."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdwise.errors import InputError
from crowdwise.files import whole, write_text
from tests.robustness.conftest import AtWork
from tests.robustness.work import FIT, contents, differences

HERE = "tests.robustness.test_disk"


def refused(at_work: AtWork, *command: object) -> str:
    """Run a command that must say in one sentence why it cannot write."""
    at_work.errors()
    code = at_work.commands.run(*command)
    said = at_work.errors()
    assert (code, said.count("\n")) == (2, 1), said
    assert said.startswith("crowdwise: ")
    assert "cannot be written" in said
    return said


def limited(bytes_per_file: str, *command: str) -> None:
    """The command in a process whose files may grow no further: as a quota would."""
    import resource

    from crowdwise.cli.main import run

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(bytes_per_file), int(bytes_per_file)))
    run(list(command))


@pytest.mark.slow
def test_a_quota_met_at_every_file(at_work: AtWork) -> None:
    sizes = {name: len(data) for name, data in at_work.whole.items()}
    out = at_work.folder / "quota"
    command = [*map(str, FIT), "--out", "quota", "--resume"]
    later = [*command, "--checkpoint-minutes", "5"]  # nothing is kept before the results
    for name, words, file in (
        ("config.json", command, "config.json"),
        ("config.json", later, "config.json"),
        ("model.safetensors", command, "state.safetensors"),
        ("consensus.parquet", later, "consensus.csv"),
        ("report.html", later, "report.html"),
    ):
        said = refused(at_work, f"{HERE}:limited", sizes[name] - 20, *words)
        assert f"{file}: cannot be written (File too large)" in said
        assert not list(out.rglob(".*.part"))
        assert (out / "done").exists() == (file == "report.html")
    assert at_work.commands.run(*command) == 0
    assert differences(contents(out), at_work.whole) == []


@pytest.fixture
def disk(at_work: AtWork) -> Iterator[Path]:
    """A disk of 200 KiB of its own."""
    place = at_work.folder / "disk"
    place.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", place], capture_output=True
    )
    if not mounted or mounted.returncode:
        place.rmdir()
        pytest.skip("a disk of its own needs the right to mount one")
    yield place
    subprocess.run(["umount", "-l", place], check=True)
    place.rmdir()


@pytest.mark.slow
def test_a_full_disk(at_work: AtWork, disk: Path) -> None:
    old = disk / "old"
    shutil.copytree(at_work.folder / "whole", old)
    (disk / "old" / "report.html").unlink()
    before = contents(old)
    (disk / "ballast").write_bytes(bytes(4096))
    command = (*FIT, "--out", "disk/new")
    free = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize - 3 * 4096))
    assert "No space left" in refused(at_work, *command)
    assert "No space left" in refused(at_work, "report", "disk/old")
    assert contents(old) == before
    (disk / "ballast").unlink()
    shutil.rmtree(old)
    assert at_work.commands.run(*command, "--resume") == 0, at_work.errors()
    assert differences(contents(disk / "new"), at_work.whole) == []


def test_a_disk_that_is_read_only(at_work: AtWork, disk: Path) -> None:
    shutil.copytree(at_work.folder / "whole", disk / "old")
    before = contents(disk)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for command in ((*FIT, "--out", "disk/new"), ("report", "disk/old")):
        assert "Read-only file system" in refused(at_work, *command)
    assert contents(disk) == before


def give_up_rights() -> None:
    """Without its capabilities, root obeys permission bits as everybody does."""
    import ctypes

    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the interface, this process
    assert ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)()) == 0


def as_anybody(locks: str, out: str, *command: str) -> None:
    """The command without root's rights; `out` is locked once so many epochs are over."""
    from crowdwise.cli.main import run
    from crowdwise.results.run import Run

    log = Run.log

    def log_then_lock(self: Run, record: dict) -> None:
        log(self, record)
        if record["epoch"] == int(locks):
            for folder in (self.checkpoint, self.folder):
                if folder.exists():
                    folder.chmod(0o500)

    Run.log = log_then_lock  # type: ignore[method-assign]
    if os.getuid() == 0:
        give_up_rights()
    run([*command, "--out", out])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_a_permission_that_is_lost_on_the_way(at_work: AtWork) -> None:
    base = at_work.folder / "theirs"
    base.mkdir()
    said = refused(at_work, f"{HERE}:as_anybody", 2, "theirs/run", *FIT)
    assert "Permission denied" in said
    out = base / "run"
    assert (out / "checkpoint" / "state.safetensors").is_file()
    for folder in (out, out / "checkpoint"):
        folder.chmod(0o700)
    assert at_work.commands.run(f"{HERE}:as_anybody", 0, "theirs/run", *FIT, "--resume") == 0
    assert differences(contents(out), at_work.whole) == []


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_a_folder_that_may_not_be_written(at_work: AtWork) -> None:
    base = at_work.folder / "locked"
    base.mkdir(mode=0o555)
    said = refused(at_work, f"{HERE}:as_anybody", 0, "locked/run", *FIT)
    assert "Permission denied" in said
    assert not list(base.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_lines_on_a_full_disk() -> None:
    from crowdwise.files import append_text

    with pytest.raises(InputError, match="No space left"):
        append_text("/dev/full", "line\n")


def test_other_libraries_words_for_a_full_disk(tmp_path: Path) -> None:
    write_text(tmp_path / "old", "as it was")

    class TheirError(Exception):
        pass

    with (
        pytest.raises(InputError, match=r"old: cannot be written \(No space left on device\)"),
        whole(tmp_path / "old"),
    ):
        raise TheirError("underlying IO error: No space left on device (os error 28)")
    with pytest.raises(TheirError), whole(tmp_path / "old"):
        raise TheirError("something else")
    assert (tmp_path / "old").read_text() == "as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
