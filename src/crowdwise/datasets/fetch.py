"""Download a file over HTTP: resumed where it stopped, checked, then renamed to its name.

What a server says is not believed: the file counts as whole when it passes its check, and what
failed it is thrown away.
"""

import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from email.message import Message
from pathlib import Path
from typing import IO, Any

from crowdwise import __version__
from crowdwise.errors import InputError

TIMEOUT = 30.0  # seconds without a byte
PAUSE = 1.0  # seconds before the second try, then twice as long each time
TRIES = 4  # in a row that bring nothing new
INTERRUPTIONS = 50  # in all, however much each try brings
PASSING = {408, 425, 429, 500, 502, 503, 504}  # HTTP statuses that a later try may not meet

Progress = Callable[[int, int | None], None]  # bytes here, bytes in all if the server says
Check = Callable[[Path], str | None]  # why this is not the file, or None


class _Passing(Exception):
    """This try failed, another may not."""


class _Final(Exception):
    """This address will not give the file."""


def fetch(
    urls: Sequence[str],
    target: Path,
    limit: int,
    check: Check | None,
    progress: Progress | None = None,
    timeout: float = TIMEOUT,
    pause: float = PAUSE,
) -> None:
    """Download `target` from the first address that gives it.

    What has arrived stays beside the target as `.NAME.part`, and the next call goes on from there.

    Args:
        limit: bytes; a longer file is refused as soon as it shows.
        check: says why a file is not the right one; None if only its content can tell, later.
    """
    part = target.with_name(f".{target.name}.part")
    tell = progress or (lambda here, total: None)
    reasons = []
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        for url in urls:
            try:
                _from_one(url, part, limit, check, tell, timeout, pause)
            except _Final as reason:
                reasons.append(f"{url}: {reason}")
                continue
            part.replace(target)
            return
    except OSError as error:  # of the disk; those of the network are dealt with where they arise
        raise InputError(
            f"{part}: cannot be written ({error.strerror}); if another crowdwise data get is "
            "running let it end, then run this again"
        ) from error
    raise InputError(
        f"{target.name} could not be downloaded ({'; '.join(reasons)}); look at the connection and "
        "run it again, it goes on where it stopped; or give the files with --from FOLDER"
    )


def _from_one(
    url: str,
    part: Path,
    limit: int,
    check: Check | None,
    progress: Progress,
    timeout: float,
    pause: float,
) -> None:
    furthest, in_vain, interruptions, restarted = _size(part), 0, 0, False
    while True:
        start = _size(part)
        try:
            announced = _receive(url, part, start, limit, progress, timeout)
        except _Passing as reason:
            interruptions += 1
            in_vain = 0 if _size(part) > furthest else in_vain + 1
            furthest = max(furthest, _size(part))
            if in_vain == TRIES or interruptions == INTERRUPTIONS:
                if check and _size(part) and check(part) is None:
                    return  # it is all there, whatever length was announced
                raise _Final(reason) from reason
            time.sleep(pause * 2 ** max(in_vain - 1, 0))
            continue
        wrong = check(part) if check else None
        if wrong is None:
            return
        part.unlink()
        # Glued from two versions, or cut off unnoticed: worth one more try, from the beginning.
        if restarted or (start == 0 and announced):
            raise _Final(f"this is another file: {wrong}")
        restarted = True


def _receive(
    url: str, part: Path, start: int, limit: int, progress: Progress, timeout: float
) -> bool:
    """Append to `part` what comes from byte `start` on; True if the server announced the length."""
    headers = {"User-Agent": f"crowdwise/{__version__}", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        with OPENER.open(urllib.request.Request(url, headers=headers), timeout=timeout) as response:
            here, total = _extent(response, start, part)
            if total is not None and total > limit:
                raise _Final(f"this is another file: {total:,} bytes, at most {limit:,} expected")
            with _writing(part, "ab" if here else "wb") as file:
                while chunk := response.read1(1 << 16):
                    here += len(chunk)
                    if here > limit:
                        part.unlink()
                        raise _Final(f"this is another file: more than {limit:,} bytes")
                    _write(file, chunk, part)
                    progress(here, total)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and _whole(error.headers, start):
            return True
        if error.code == 416:
            part.unlink()
        if error.code in PASSING | {416}:
            raise _Passing(_said(error)) from error
        raise _Final(_said(error)) from error
    except (OSError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise _Final(_said(cause)) from error
        if isinstance(cause, TimeoutError):
            raise _Passing(f"nothing came for {timeout:g} seconds") from error
        raise _Passing(_said(cause)) from error
    if total is not None and here < total:
        raise _Passing(f"cut off after {here:,} of {total:,} bytes")
    return total is not None


def _extent(response: Any, start: int, part: Path) -> tuple[int, int | None]:
    """Where the body that follows begins, and how long the whole file is."""
    length = response.headers.get("Content-Length", "")
    if response.status == 206:
        place = re.fullmatch(
            r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", "").strip()
        )
        if not place or int(place[1]) != start:
            part.unlink()  # so that the next try asks for the whole
            raise _Passing("it sent another part than was asked for")
        return start, int(place[2]) if place[2] != "*" else None
    return 0, int(length) if length.isdecimal() else None


def _whole(headers: Message, start: int) -> bool:
    """Whether "no such range" means that the file ends where ours does."""
    return str(headers.get("Content-Range", "")).strip() == f"bytes */{start}"


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Redirections to the web only, and never from https to http."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        scheme = newurl.partition(":")[0].lower()
        if scheme != "https" and (scheme != "http" or req.type == "https"):
            raise _Final(f"it redirects to {newurl}, which is not secure")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


OPENER = urllib.request.build_opener(_Redirects)


def _writing(part: Path, mode: str) -> IO[bytes]:
    try:
        return part.open(mode)
    except OSError as error:
        raise InputError(f"{part}: cannot be written ({error.strerror})") from error


def _write(file: IO[bytes], chunk: bytes, part: Path) -> None:
    try:
        file.write(chunk)
    except OSError as error:
        raise InputError(
            f"{part}: cannot be written ({error.strerror}); free some room and run it again, "
            "it goes on where it stopped"
        ) from error


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _said(error: object) -> str:
    return " ".join(str(error).split()) or type(error).__name__
