"""A real browser for tests: Debian's Chromium without a window, spoken to over a pair of pipes."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Browser:
    """One page, and what DevTools can do with it; each message is JSON that ends with a zero byte."""

    def __init__(self, process: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._process = process
        self._to, self._back = to, os.fdopen(back, "rb", buffering=0)
        self._number, self._rest, self._loaded = 0, b"", 0
        self.said: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def open(self, url: str) -> None:
        """Go to a page, and wait until it is there instead of the one before."""
        before = self._loaded
        self.said.clear()
        self.ask("Page.navigate", url=url)
        while self._loaded == before:
            self._hear()

    def size(self, width: int, height: int, *, dots: float = 1) -> None:
        """The size of the window."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=dots, mobile=False)

    def dark(self, wanted: bool) -> None:
        """What the person who looks prefers."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if wanted else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def value(self, script: str) -> Any:
        """What an expression is on the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str, *, within: float = 30) -> Any:
        """Wait until an expression is true, and return it."""
        deadline = time.monotonic() + within
        while not (value := self.value(script)):
            assert time.monotonic() < deadline, f"never came true: {script}\n{self.text()}\n{self.said}"
            time.sleep(0.1)
        return value

    def text(self) -> str:
        """The words on the page."""
        return str(self.value("document.body.innerText"))

    def click(self, selector: str) -> None:
        """Click on what a selector finds."""
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def picture(self, file: Path) -> None:
        """What the window shows."""
        file.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what the page complains about on the way is kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if hasattr(self, "_session"):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._hear()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return dict(answer["result"])

    def _hear(self) -> dict[str, Any]:
        """The next message."""
        message = self._next()
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.said.append(json.dumps(message["params"]))
        self._loaded += message.get("method") == "Page.loadEventFired"
        return message

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = self._back.read(1 << 16)
            assert part, f"the browser is gone: {self._process.poll()}"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(line))


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, ended afterwards."""
    theirs, ours = os.pipe()
    back, to_us = os.pipe()
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
    # Chromium reads from 3 and writes to 4, whatever the numbers are here.
    shell = ["/bin/bash", "-c", f'exec 3<&{theirs} 4>&{to_us} "$@"', "bash", *command]
    process = subprocess.Popen(
        shell, pass_fds=(theirs, to_us), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    os.close(theirs), os.close(to_us)
    page = None
    try:
        page = Browser(process, ours, back)
        yield page
    finally:
        process.terminate()
        process.wait(30)
        os.close(ours)
        if page:
            page._back.close()
