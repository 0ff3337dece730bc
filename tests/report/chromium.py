"""A headless Chromium driven over its DevTools pipe: pages in a test, with the standard library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--remote-debugging-pipe", "--hide-scrollbars", "--force-color-profile=srgb"),
)
needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None,
    reason="there is no chromium; on Debian: apt-get install chromium",
)


class Page:
    """One tab, and everything it said on the console or asked the network for."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read, self._buffer, self._number = write, read, b"", 0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._events: list[str] = []
        self._session: str | None = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the browser, and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, path: Path) -> None:
        self._events.clear()
        self.send("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self._events:
            self._next()

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """A key as a person presses it: Tab, Enter, ArrowDown, …"""
        code = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowDown": 40}[key]
        said = {"text": "\r"} if key == "Enter" else {}
        named = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", **named, **said)
        self.send("Input.dispatchKeyEvent", type="keyUp", **named)

    def look(self, width: int, scheme: str = "light", height: int = 800) -> None:
        """Take the size of a screen, and its colours."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.send("Emulation.setDeviceMetricsOverride", **size, mobile=width < 600)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def picture(self) -> bytes:
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        return b64decode(shot["data"])

    def printed(self) -> bytes:
        return b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._read, 1 << 16)
            assert chunk, "chromium ended"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, params: dict[str, Any]) -> None:
        self._events.append(method)
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(params))
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith("data:"):
                self.requests.append(url)


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with a new profile, gone at the end."""
    to_child, write = os.pipe()
    read, from_child = os.pipe()
    command = ["chromium", *FLAGS, f"--user-data-dir={profile}"]
    joined = f'exec "$@" 3<&{to_child} 4>&{from_child}'
    child = subprocess.Popen(
        ["bash", "-c", joined, "bash", *command],
        pass_fds=(to_child, from_child),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_child)
    os.close(from_child)
    try:
        yield Page(write, read)
    finally:
        os.close(write)  # the browser ends with its pipe
        try:
            child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        os.close(read)
