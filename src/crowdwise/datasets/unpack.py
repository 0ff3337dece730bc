"""Take named files out of a .tar.gz that nobody vouches for.

Files are written under their own last names into one folder, never where the archive says. An
archive that holds anything but plain files and folders inside itself is refused whole.
"""

import gzip
import re
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from crowdwise.errors import InputError

MEMBERS = 10_000
CHUNK = 1 << 20


class _Bounded:
    """Reads at most `left` bytes: also headers can be bombs."""

    def __init__(self, file: gzip.GzipFile, left: int) -> None:
        self.file, self.left = file, left

    def read(self, size: int = CHUNK) -> bytes:
        data = self.file.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("it unpacks to more than it may")
        return data


def unpack(archive: Path, folder: Path, wanted: Mapping[str, int], limit: int) -> None:
    """Write the wanted files of `archive` into `folder`.

    Args:
        wanted: the files' names, without folders, and the most bytes each may have.
        limit: the most bytes the whole archive may unpack to.
    """
    found: set[str] = set()
    try:
        with (
            gzip.open(archive) as file,
            tarfile.open(fileobj=_Bounded(file, limit), mode="r|") as tar,  # type: ignore[call-overload]
        ):
            for count, member in enumerate(tar):
                if count == MEMBERS:
                    raise ValueError(f"it holds more than {MEMBERS:,} files")
                _innocent(member)
                name = PurePosixPath(member.name).name
                if not member.isreg() or name not in wanted:
                    continue
                if name in found:
                    raise ValueError(f"it holds {name} twice")
                if member.size > wanted[name]:
                    raise ValueError(f"{name} has {member.size:,} bytes, at most {wanted[name]:,}")
                found.add(name)
                _copy(tar, member, folder / name)
    except (tarfile.TarError, EOFError, OSError, zlib.error, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{archive.name}: damaged, or not the archive it should be ({reason}); nothing was "
            "taken from it; get it again"
        ) from error
    if absent := sorted(wanted.keys() - found):
        raise InputError(
            f"{archive.name}: {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not in it; "
            "this is another archive; get it again"
        )


def _innocent(member: tarfile.TarInfo) -> None:
    """Plain files and folders below the archive's own; raise ValueError otherwise."""
    name = member.name
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or re.match(r"\w:", name):
        raise ValueError(f"{name!r} would lie outside its folder")
    if member.issparse() or not (member.isreg() or member.isdir()):
        raise ValueError(f"{name!r} is a link, a device or another thing than a file or folder")


def _copy(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = tar.extractfile(member)
    assert content is not None
    try:
        with target.open("wb") as file:
            while chunk := content.read(CHUNK):
                file.write(chunk)
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
