"""Make the pictures of docs/studio.md: the studio on the made-up hospital, in Debian's chromium.

Needs the extra `browser` and chromium. Run it from the repository: python scripts/studio_pictures.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from kveil.datasets import hospital

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def _take(page: Any, name: str) -> None:
    page.wait_for_timeout(5000)  # what was just said in a corner is gone by then
    page.screenshot(path=PICTURES / f"{name}.png")


def _visit(page: Any) -> None:
    page.get_by_role("button", name="patients.csv").click()
    page.wait_for_selector("table.columns")
    _take(page, "studio-columns")
    page.evaluate("location.hash = 'steps/zip'")
    page.get_by_role("button", name="Take a tree from a file…").click()
    page.get_by_label("File of the tree").select_option("zip.csv")
    page.get_by_role("button", name="Take it").click()
    page.locator(".node", has_text="New England").locator(".mark").click()
    page.wait_for_selector(".node.marked")
    page.evaluate("scrollTo(0, 0)")
    _take(page, "studio")
    page.evaluate("location.hash = 'promises'")
    page.wait_for_selector(".promise")
    _take(page, "studio-promises")
    page.evaluate("location.hash = 'run'")
    page.wait_for_selector("text=Compare methods")
    page.get_by_role("button", name="Compare all that can do it").click()
    page.get_by_text("The smallest loss first", exact=True).wait_for()  # all of them are done
    page.get_by_role("button", name="Use this").first.click()
    page.wait_for_selector("text=Options of")
    page.get_by_role("button", name="Make the release").click()
    page.wait_for_selector("text=See the result")
    _take(page, "studio-run")
    page.get_by_role("button", name="See the result").click()
    page.wait_for_selector("text=promises hold")
    _take(page, "studio-result")


def main() -> None:
    """Start a studio, go through it, keep what it looks like."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "hospital"
        folder.mkdir()
        for name in ("patients.csv", "zip.csv"):
            shutil.copyfile(hospital() / name, folder / name)
        command = [sys.executable, "-m", "kveil", "studio", "--no-browser"]
        with (
            subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as studio,
            sync_playwright() as play,
        ):
            try:
                assert studio.stdout is not None
                link = next(match[0] for line in studio.stdout if (match := re.search(r"http://\S+", line)))
                browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1320, "height": 860})
                page.set_default_timeout(600_000)
                page.goto(link)
                _visit(page)
                browser.close()
            finally:
                studio.terminate()


if __name__ == "__main__":
    main()
