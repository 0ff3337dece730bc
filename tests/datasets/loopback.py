"""An HTTP server on 127.0.0.1 that can be told to misbehave."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[["Handler"], None]


@dataclass
class Server:
    """Each request takes the next answer; the last one goes on for ever."""

    address: str
    answers: list[Answer] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)  # the Range header of each request
    paths: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    talk: Server

    def do_GET(self) -> None:
        self.talk.ranges.append(self.headers["Range"])
        self.talk.paths.append(self.path)
        answers = self.talk.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def head(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def start(self) -> int:
        """Where the range begins that was asked for."""
        asked = self.headers["Range"]
        return int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False  # server_close waits for them
    talk = Server(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Told", (Handler,), {"talk": talk})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield talk
    finally:
        talk.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def whole(content: bytes) -> Answer:
    """A good server: the range that was asked for, or all."""

    def answer(told: Handler) -> None:
        start = told.start()
        if start >= len(content) > 0:
            told.head(416, Content_Range=f"bytes */{len(content)}", Content_Length=0)
            return
        body = content[start:]
        span = {"Content_Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        told.head(206 if start else 200, Content_Length=len(body), **(span if start else {}))
        told.wfile.write(body)

    return answer


def cut_off(content: bytes, after: int) -> Answer:
    """Announces everything, sends `after` bytes, hangs up."""

    def answer(told: Handler) -> None:
        start = told.start()
        span = {"Content_Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        length = len(content) - start
        told.head(206 if start else 200, Content_Length=length, **(span if start else {}))
        told.wfile.write(content[start : start + after])

    return answer


def stall(content: bytes, after: int) -> Answer:
    """Announces everything, sends `after` bytes, then nothing until the test is over."""

    def answer(told: Handler) -> None:
        cut_off(content, after)(told)
        told.wfile.flush()
        told.talk.over.wait(10)

    return answer


def raw(status: int, body: bytes = b"", **headers: object) -> Answer:
    """Whatever one likes, with or without a length, whatever range was asked for."""

    def answer(told: Handler) -> None:
        told.head(status, **headers)
        told.wfile.write(body)

    return answer
