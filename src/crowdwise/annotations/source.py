"""Where a table comes from: a file, gzip of a file, or standard input."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from crowdwise.errors import InputError
from crowdwise.files import FLOOR, RATIO, refuse_bomb

HEAD = 65_536  # bytes looked at to tell what a file is
FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; save it as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save it as CSV",
    b"\x28\xb5\x2f\xfd": "compressed with zstandard; unpack it, or use gzip",
    b"BZh": "compressed with bzip2; unpack it, or use gzip",
    b"\xfd7zXZ": "compressed with xz; unpack it, or use gzip",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


@dataclass(frozen=True)
class Source:
    """A table's bytes: on disk where possible (`path`), else in memory (`data`)."""

    name: str  # for messages
    path: Path | None
    data: bytes

    @property
    def suffix(self) -> str:
        """The name's ending without .gz, in lower case."""
        return Path(self.name.removesuffix(".gz")).suffix.lower()

    def head(self) -> bytes:
        """The first bytes."""
        if self.path is None:
            return self.data[:HEAD]
        with self.path.open("rb") as file:
            return file.read(HEAD)

    def read(self) -> bytes:
        """All bytes."""
        return self.data if self.path is None else self.path.read_bytes()

    def scannable(self) -> Path | bytes:
        """What polars reads from."""
        return self.data if self.path is None else self.path


def open_source(path: str | os.PathLike[str]) -> Source:
    """Find the table, unpack gzip, and refuse what no reader could make sense of.

    A plain file stays on disk; what is packed or piped (`-` is standard input) goes to memory.
    """
    if os.fspath(path) == "-":
        source = _unpacked("standard input", sys.stdin.buffer.read())
    else:
        source = _from_disk(Path(path))
    head = source.head()
    if not head.strip():
        raise InputError(f"{source.name}: the file is empty; give a table with a header and rows")
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"{source.name}: this is {what}")
    return source


def _from_disk(path: Path) -> Source:
    name = str(path)
    try:
        if path.is_dir():
            raise InputError(f"{name}: this is a folder; give the table's file")
        with path.open("rb") as file:
            return _opened(name, path, file)
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{name}: no such file; check the name and the folder") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the name
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: cannot be read ({reason}); check the file") from error


def _opened(name: str, path: Path, file: BinaryIO) -> Source:
    if not path.is_file():  # a pipe such as /dev/fd/63 can be read only once
        return _unpacked(name, file.read())
    if file.read(2) != b"\x1f\x8b":
        return Source(name, path, b"")
    return _unpacked(name, path.read_bytes())


def _unpacked(name: str, data: bytes) -> Source:
    if not data.startswith(b"\x1f\x8b"):
        return Source(name, None, data)
    try:
        most = FLOOR + RATIO * len(data)
        with gzip.open(io.BytesIO(data)) as file:
            unpacked = file.read(most + 1)
        refuse_bomb(name, len(unpacked), len(data))
        return Source(name, None, unpacked)
    except EOFError as error:
        raise InputError(
            f"{name}: the gzip file ends too early, it was cut off; copy or download it again"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{name}: the gzip file is damaged ({error}); make it again") from error
