"""The way in through a file on the disk, in a real browser: from there to the page, and no link in its history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from browsers import PATIENCE, expect
from kveil.studio.doorway import Doorway
from running_studio import start

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_a_browser_comes_in_by_the_file_and_may_reload(tmp_path: Path, browser: Browser) -> None:
    running = start(tmp_path)
    doorway = Doorway(running.link)
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    asked: list[tuple[str, str | None]] = []
    try:
        page = context.new_page()
        page.on("request", lambda request: asked.append((request.url, request.headers.get("referer"))))
        page.goto(doorway.address)
        expect(page.get_by_role("heading", name="Which table")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="Which table")).to_be_visible()
        assert "token" not in page.url
        assert not any("token" in (referer or "") for _, referer in asked)
        page.go_back()
        assert "token" not in page.url
    finally:
        context.close()
        doorway.close()
        running.stop()
