"""Files are written whole or not at all: a temporary file beside the target, then a rename."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crowdwise.errors import InputError

_PART = ".part"  # how a temporary file's name ends
FLOOR, RATIO = 2**26, 100  # bytes that any file may unpack to, and times its own size
_SYSTEM = re.compile(r"\(os error (\d+)\)")  # in the words of Rust's libraries
_LEFT = re.compile(r"\..+\.[a-z0-9_]{8}\.part")


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the target's folder; on success it replaces the target.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
        >>> with whole(target) as temporary:
        ...     _ = temporary.write_text("42")
        >>> target.read_text()
        '42'
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(_PART, f".{target.name}.", target.parent)
    except OSError as error:
        raise InputError(
            f"{target}: cannot be written ({error.strerror}); name another place"
        ) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files private; a result is as readable as any file its owner makes.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except Exception as error:
        if not (reason := _reason(error)):
            raise
        raise InputError(
            f"{target}: cannot be written ({reason}); free some room or name another place"
        ) from error
    finally:
        with suppress(OSError):  # a folder that may no longer be written keeps it
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def append_text(path: str | Path, text: str) -> None:
    """Write `text` at the end of `path`: for files of lines, where a cut last line is dropped."""
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}); free some room or name another place"
        ) from error


def sweep(folder: str | Path) -> None:
    """Remove the temporary files that a killed process left in a folder."""
    for path in Path(folder).glob(f".*{_PART}"):
        if _LEFT.fullmatch(path.name):
            path.unlink(missing_ok=True)


def refuse_bomb(path: str | Path, unpacked: int, packed: int) -> None:
    """Refuse a file of `packed` bytes that says it holds far more: memory is bounded by the file.

    Example:
        >>> refuse_bomb("crowd.csv.gz", unpacked=10**9, packed=10**8)
        >>> refuse_bomb("crowd.csv.gz", unpacked=10**9, packed=10**5)
        Traceback (most recent call last):
        crowdwise.errors.InputError: crowd.csv.gz: holds 954 MiB or more in a file of 0 MiB; ...
    """
    if unpacked > FLOOR + RATIO * packed:
        raise InputError(
            f"{path}: holds {unpacked / 2**20:,.0f} MiB or more in a file of "
            f"{packed / 2**20:,.0f} MiB; if you trust it, save it without compression"
        )


def _reason(error: Exception) -> str | None:
    """Why the system would not write, if that is what went wrong."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    said = _SYSTEM.search(str(error))  # polars and safetensors have errors of their own
    return os.strerror(int(said[1])) if said else None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
