"""A studio to try things on: the real server as a process, and what a page sends to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit


@dataclass
class Running:
    """A running studio, its link, and requests as the studio's own page makes them."""

    process: subprocess.Popen[str]
    link: str
    folder: Path
    cookie: str = ""
    room: str = ""  # the path that the page has for itself, known to whoever was let in
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return urlsplit(self.link).port or 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def home(self) -> str:
        return f"{self.origin}{self.room}"

    def raw(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send exactly these headers, with the Host that belongs to the address unless another one is given.

        What the page asks for is asked for below its own path, as it does itself.
        """
        if path.startswith(("/api/", "/static/")):
            path = self.room + path
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        if body is not None:
            given.setdefault("Content-Length", str(len(body)))
        for name, value in given.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def own(self, **more: str) -> dict[str, str]:
        """Return the headers that the studio's own page sends."""
        return {"Cookie": self.cookie, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", **more}

    def enter(self) -> None:
        path = self.link.removeprefix(self.origin)
        status, headers, _ = self.raw("GET", path, {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"})
        assert status == 303
        self.cookie, self.room = headers["set-cookie"].split(";")[0], headers["location"].rstrip("/")

    def ask(self, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
        headers = self.own()
        raw = None
        if method != "GET":
            headers |= {"Origin": self.origin, "Content-Type": "application/json"}
            raw = json.dumps(body or {}).encode()
        status, _, content = self.raw(method, "/api/" + path, headers, raw)
        assert status == expect, content[:600]
        return json.loads(content)

    @property
    def number(self) -> int:
        return int(self.ask("GET", "state")["project"]["number"])

    def edit(self, *changes: dict[str, Any], expect: int = 200) -> Any:
        body = {"number": self.number, "changes": list(changes), "words": "test"}
        return self.ask("POST", "policy/edit", body, expect)

    def job(self, number: int, seconds: float = 240) -> dict[str, Any]:
        """Wait for a job's end."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found: dict[str, Any] = next(j for j in self.ask("GET", "state")["jobs"] if j["number"] == number)
            if found["state"] not in ("running", "finishing"):
                return found
            time.sleep(0.2)
        raise AssertionError("the job did not end")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def url(text: str) -> str:
    return quote(text, safe="")


def start(folder: Path, *arguments: str) -> Running:
    process = subprocess.Popen(
        [sys.executable, "-m", "kveil", "studio", *arguments, "--no-browser"],
        cwd=folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=dict(os.environ),
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        link = re.search(r"http://\S+", line)
        if link:
            return Running(process, link[0], folder)
    process.wait()
    process.stdout.close()
    raise AssertionError("the studio did not start")


@contextmanager
def entered(folder: Path, *arguments: str) -> Iterator[Running]:
    """Start a studio, let its page in, and stop it after the block."""
    studio = start(folder, *arguments)
    try:
        studio.enter()
        yield studio
    finally:
        studio.stop()
