"""Tabs of a real browser for tests: Debian's chromium, driven by Playwright, and what a tab complained about.

Tests that need one import this module first; it skips them, with what would make them run, where there is none.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from running_studio import Running

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = importlib.util.find_spec("axe_playwright_python")
if CHROMIUM is None:
    pytest.skip("there is no chromium here: apt-get install chromium makes this run", allow_module_level=True)
if importlib.util.find_spec("playwright") is None or AXE is None or AXE.origin is None:
    pytest.skip("the extra `browser` is not here: `make browser` makes this run", allow_module_level=True)

from playwright.sync_api import Browser, Error, Page, Request, expect, sync_playwright  # noqa: E402

PATIENCE = 120_000.0  # milliseconds; a machine may be busy with other things
REBOUND = "rebound.example"  # a name that leads to this machine
SWITCHES = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1",
]
expect.set_options(timeout=PATIENCE)


@contextmanager
def browser_here() -> Iterator[Browser]:
    """Start a browser; skip where the one of this machine does not start at all."""
    with sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES, timeout=PATIENCE)
        except Error:
            pytest.skip("chromium does not start on this machine: `chromium --headless` by hand says why")
        yield opened
        opened.close()


def complaints_of(page: Page, **options: Any) -> list[tuple[str, list[str]]]:
    """Return what axe-core complains about: the rule, and the first elements that break it.

    All its rules look at everything; that it tells nothing of what passes, which takes most of the time, is all that
    `resultTypes` does.
    """
    assert AXE is not None
    assert AXE.origin is not None
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(Path(AXE.origin).with_name("axe.min.js").read_text())
    asked = "async (options) => (await axe.run(document, options)).violations"
    found = page.evaluate(asked, {"resultTypes": ["violations"], **options})
    return [(rule["id"], [node["html"][:160] for node in rule["nodes"][:3]]) for rule in found]


def picture(name: str) -> str | None:
    """Return where to keep a picture, None where nobody wants them."""
    folder = os.environ.get("KVEIL_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
    return str(Path(folder) / name) if folder else None


class Tab:
    """A tab of the studio that remembers what it asked for outside, and what it complained about.

    It comes in by the link, or with the key of a browser that is in already.
    """

    def __init__(self, browser: Browser, running: Running, **options: Any) -> None:
        self.running = running
        self.outside: list[str] = []
        self.complaints: list[str] = []
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        context.set_default_timeout(PATIENCE)
        name, _, value = running.cookie.partition("=")
        if value:
            here: Any = {"domain": "127.0.0.1", "path": f"{running.room}/", "httpOnly": True, "sameSite": "Strict"}
            context.add_cookies([{"name": name, "value": value, **here}])
        self.page: Page = context.new_page()
        self.page.on("request", self._asked)
        self.page.on("console", lambda told: self.complaints.append(told.text) if told.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(f"{running.home}/" if value else running.link)
        self.page.wait_for_selector("main h2")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.running.origin, "data:", "blob:")):
            self.outside.append(request.url)

    def go(self, screen: str, column: str | None = None) -> None:
        """Go to a screen, and wait until it is there."""
        where = screen if column is None else f"{screen}/{column}"
        self.page.evaluate(f"location.hash = {json.dumps(where)}")
        self.page.wait_for_selector(f"main[data-screen={screen}] h2")

    @property
    def policy(self) -> str:
        """The policy as it is on the disk."""
        return (self.running.folder / "policy.yaml").read_text()

    def saved(self, text: str, *, gone: bool = False) -> None:
        """Wait until the policy on the disk says something, or does not say it any more."""
        for _ in range(int(PATIENCE / 50)):
            if (text in self.policy) != gone:
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"the policy never {'lost' if gone else 'said'} {text}")

    def close(self) -> None:
        """Close it; it must have asked nothing from outside, and complained of nothing but refusals we asked for."""
        assert self.outside == []
        assert [told for told in self.complaints if "422" not in told and "409" not in told] == []
        self.page.context.close()
