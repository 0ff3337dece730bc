"""Downloads from a real server on loopback that stalls, cuts off, lies, and serves wrong files."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from urllib.request import HTTPRedirectHandler, Request

import numpy as np
import pytest

from crowdwise.datasets.fetch import OPENER, fetch
from crowdwise.datasets.recipes import File
from crowdwise.errors import InputError
from tests.datasets.loopback import Server, cut_off, raw, serving, stall, whole

CONTENT = np.random.default_rng(0).bytes(300_000)
OTHER = np.random.default_rng(1).bytes(300_000)
SIZE = len(CONTENT)
FILE = File("file.bin", hashlib.sha256(CONTENT).hexdigest(), SIZE)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def download(server: Server, target: Path, *answers, check=FILE.wrong, limit=SIZE, **more) -> None:
    server.answers = list(answers)
    urls = more.pop("urls", [f"{server.address}/file.bin"])
    fetch(urls, target, limit, check, **{"timeout": 0.5, "pause": 0.001, **more})


def refused(server: Server, target: Path, *answers, **more) -> str:
    with pytest.raises(InputError) as error:
        download(server, target, *answers, **more)
    assert not target.exists()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "file.bin"


def left(target: Path) -> int:
    part = target.with_name(".file.bin.part")
    return part.stat().st_size if part.exists() else 0


def test_a_good_server(server: Server, target: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    download(
        server, target, whole(CONTENT), progress=lambda here, total: seen.append((here, total))
    )
    assert target.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [here for here, _ in seen] == sorted(here for here, _ in seen)
    assert server.ranges == [None]
    assert [path.name for path in target.parent.iterdir()] == ["file.bin"]


def test_cut_off_and_resumed(server: Server, target: Path) -> None:
    download(server, target, *[cut_off(CONTENT, 100_000)] * 2, whole(CONTENT))
    assert target.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=100000-", "bytes=200000-"]


def test_stalled_and_resumed(server: Server, target: Path) -> None:
    download(server, target, stall(CONTENT, 100_000), whole(CONTENT))
    assert target.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=100000-"]


def test_stalled_for_good_keeps_what_came_for_the_next_time(server: Server, target: Path) -> None:
    message = refused(server, target, stall(CONTENT, 10_000), stall(CONTENT, 0), timeout=0.1)
    assert "nothing came for 0.1 seconds" in message
    assert "goes on where it stopped" in message
    assert left(target) == 10_000
    server.ranges.clear()
    download(server, target, whole(CONTENT))
    assert server.ranges == ["bytes=10000-"]
    assert target.read_bytes() == CONTENT


def test_silent_from_the_start(server: Server, target: Path) -> None:
    def say_nothing(told) -> None:
        told.talk.over.wait(10)

    assert "nothing came" in refused(server, target, say_nothing, timeout=0.1)
    assert len(server.ranges) == 4


def test_ranges_ignored(server: Server, target: Path) -> None:
    everything = raw(200, CONTENT, Content_Length=len(CONTENT))
    download(server, target, cut_off(CONTENT, 100_000), everything)
    assert target.read_bytes() == CONTENT


def test_always_cut_off_at_the_same_byte(server: Server, target: Path) -> None:
    stuck = raw(200, CONTENT[:1000], Content_Length=len(CONTENT))
    message = refused(server, target, stuck)
    assert "cut off after 1,000 of 300,000 bytes" in message
    assert len(server.ranges) == 5  # once with something new, four times without


def test_another_range_than_asked_for(server: Server, target: Path) -> None:
    odd = raw(206, CONTENT[5:], Content_Range=f"bytes 5-299999/{len(CONTENT)}")
    download(server, target, cut_off(CONTENT, 100_000), odd, whole(CONTENT))
    assert target.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=100000-", None]


def test_a_length_too_long(server: Server, target: Path) -> None:
    liar = raw(200, CONTENT, Content_Length=len(CONTENT) + 9)
    download(server, target, liar, limit=len(CONTENT) + 9)
    assert target.read_bytes() == CONTENT  # the sha256 is believed, not the length


def test_a_length_too_long_and_no_sha256(server: Server, target: Path) -> None:
    liar = raw(200, CONTENT, Content_Length=len(CONTENT) + 9)
    message = refused(server, target, liar, limit=len(CONTENT) + 9, check=None)
    assert "cut off after 300,000 of 300,009 bytes" in message


def test_a_length_too_short(server: Server, target: Path) -> None:
    message = refused(server, target, raw(200, CONTENT, Content_Length=500))
    assert "it holds 500 bytes, it should hold 300,000" in message
    assert left(target) == 0


def test_a_length_beyond_the_limit_is_refused_before_it_is_read(
    server: Server, target: Path
) -> None:
    message = refused(server, target, raw(200, b"", Content_Length=10**12))
    assert "1,000,000,000,000 bytes, at most 300,000 expected" in message
    assert len(server.ranges) == 1


def test_no_length_and_no_end(server: Server, target: Path) -> None:
    def for_ever(told) -> None:
        told.head(200)
        try:
            while not told.talk.over.is_set():
                told.wfile.write(OTHER)
        except OSError:
            pass

    assert "more than 300,000 bytes" in refused(server, target, for_ever)
    assert left(target) == 0


def test_no_length_and_cut_off_once(server: Server, target: Path) -> None:
    download(server, target, raw(200, CONTENT[:1000]), raw(200, CONTENT))
    assert target.read_bytes() == CONTENT


def test_a_wrong_file(server: Server, target: Path) -> None:
    message = refused(server, target, whole(OTHER))
    assert (
        f"its sha256 is {hashlib.sha256(OTHER).hexdigest()}, it should be {FILE.sha256}" in message
    )
    assert left(target) == 0
    assert len(server.ranges) == 1  # a wrong file is not asked for again


def test_a_file_that_changed_between_two_tries(server: Server, target: Path) -> None:
    download(server, target, cut_off(OTHER, 100_000), whole(CONTENT))
    assert target.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=100000-", None]


def test_a_wrong_file_that_is_cut_off_ends(server: Server, target: Path) -> None:
    answers = [cut_off(OTHER, 100_000), whole(OTHER)] * 2
    assert "this is another file" in refused(server, target, *answers)
    assert len(server.ranges) <= 4


def test_what_was_left_is_already_whole(server: Server, target: Path) -> None:
    target.with_name(".file.bin.part").write_bytes(CONTENT)
    download(server, target, whole(CONTENT))
    assert target.read_bytes() == CONTENT
    assert server.ranges == ["bytes=300000-"]


def test_what_was_left_is_too_long(server: Server, target: Path) -> None:
    target.with_name(".file.bin.part").write_bytes(CONTENT + b"more")
    download(server, target, whole(CONTENT))
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_error(server: Server, target: Path, status: int) -> None:
    download(server, target, raw(status, Content_Length=0), whole(CONTENT))
    assert target.read_bytes() == CONTENT


def test_not_there_and_the_next_address(server: Server, target: Path) -> None:
    urls = [f"{server.address}/a", f"{server.address}/b"]
    download(server, target, raw(404, Content_Length=0), whole(CONTENT), urls=urls)
    assert target.read_bytes() == CONTENT
    assert server.paths == ["/a", "/b"]


def test_every_address_is_named_with_its_reason(server: Server, target: Path) -> None:
    urls = [f"{server.address}/a", f"{server.address}/b"]
    answers = raw(404, Content_Length=0), raw(403, Content_Length=0)
    message = refused(server, target, *answers, urls=urls)
    assert f"{urls[0]}: HTTP Error 404" in message
    assert f"{urls[1]}: HTTP Error 403" in message


def test_redirected_and_resumed(server: Server, target: Path) -> None:
    def away(told) -> None:
        told.head(302, Location="/elsewhere", Content_Length=0)

    download(server, target, away, cut_off(CONTENT, 100_000), away, whole(CONTENT))
    assert target.read_bytes() == CONTENT
    assert server.paths == ["/file.bin", "/elsewhere"] * 2
    assert server.ranges[-1] == "bytes=100000-"


def test_redirected_in_a_circle(server: Server, target: Path) -> None:
    message = refused(server, target, raw(302, Location="/file.bin", Content_Length=0))
    assert "302" in message
    assert len(server.paths) < 20


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/file.bin"])
def test_redirected_off_the_web(server: Server, target: Path, place: str) -> None:
    message = refused(server, target, raw(302, Location=place, Content_Length=0))
    assert place[:5] in message
    assert "allowed" in message or "not secure" in message


def test_from_https_to_http_is_not_followed() -> None:
    handler = next(h for h in OPENER.handlers if isinstance(h, HTTPRedirectHandler))
    with pytest.raises(Exception, match="it redirects to http://b/c, which is not secure"):
        handler.redirect_request(Request("https://b/c"), None, 302, "", None, "http://b/c")


def test_nobody_there(target: Path) -> None:
    with serving() as gone:
        url = f"{gone.address}/file.bin"
    with pytest.raises(InputError, match=r"could not be downloaded .*refused"):
        fetch([url], target, 1, None, timeout=0.5, pause=0.001)


def test_what_is_not_http(server: Server, target: Path) -> None:
    def babble(told) -> None:
        told.wfile.write(b"\0\1\2 no status line\n")

    assert "could not be downloaded" in refused(server, target, babble)


def test_nowhere_to_write(server: Server, tmp_path: Path) -> None:
    (tmp_path / ".file.bin.part").mkdir()
    server.answers = [whole(CONTENT)]
    with pytest.raises(InputError, match=r"\.file\.bin\.part: cannot be written"):
        fetch([f"{server.address}/x"], tmp_path / "file.bin", 10**6, None, pause=0.001)


def test_a_part_that_another_process_took_away(server: Server, target: Path) -> None:
    def check(part: Path) -> None:
        part.unlink()

    message = refused(server, target, whole(CONTENT), check=check)
    assert "if another crowdwise data get is running let it end" in message
