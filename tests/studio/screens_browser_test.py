"""Every screen in a real browser: axe-core finds nothing, nothing is cut off, in both themes and at every width.

KVEIL_PICTURES=folder keeps the screenshots to look at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browsers import Tab, complaints_of, expect, picture
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

READY = {
    "file": "text=2,000 records",
    "columns": "table.columns",
    "steps": ".node",
    "promises": ".promise",
    "check": "text=Nothing is impossible",
    "run": "text=Compare methods",
    "result": "iframe.report",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375, 640])
def test_every_screen_is_accessible_and_fits(browser: Browser, finished: Running, width: int, scheme: str) -> None:
    """640 pixels are what a page of 1280 has left at a zoom of 200 %."""
    tab = Tab(browser, finished, viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    for screen, ready in READY.items():
        tab.go(screen)
        tab.page.wait_for_selector(ready, state="attached")
        if screen == "promises":
            tab.page.get_by_text("The rest of what a policy can say").click()
        where = picture(f"{screen}-{width}-{scheme}.png")
        if where is not None:
            tab.page.wait_for_timeout(1500)
            tab.page.screenshot(full_page=True, path=where)
        wide = tab.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{screen} can be pushed sideways"
        assert complaints_of(tab.page, iframes=False) == [], screen
    tab.close()


JOB = """async (change) => {
  const { set, state } = await import("./static/store.js");
  const row = (algorithm, ncp, losses) => ({ algorithm, solved: true, loss: { ncp }, suppressed_share: 0, groups: 9,
    seconds: 1, losses });
  const job = { number: 999, kind: "compare", state: "running", stage: "solving with datafly", done: 0.5, told: "",
    seconds: 2, losses: [], result: null,
    compared: [row("mondrian", 0.3, []), row("least-loss", 0.1, [[0, 0.3], [1, 0.1]])] };
  set({ jobs: [...state.jobs.filter((other) => other.number !== 999), { ...job, ...change }] });
}"""


def test_compared_methods_show_as_they_end_with_their_curves(browser: Browser, finished: Running) -> None:
    tab = Tab(browser, finished)
    tab.go("run")
    tab.page.evaluate(JOB, {})
    shown = tab.page.get_by_label("Comparison")
    expect(shown.locator("caption")).to_have_text("2 methods so far, the smallest loss first")
    expect(shown.locator("tbody th")).to_have_text(["least-loss", "mondrian"])
    expect(shown.locator("svg")).to_have_attribute("aria-label", "fell from 30.0 % to 10.0 % in 1.0 s")
    expect(tab.page.get_by_role("button", name="Cancel")).to_be_visible()
    tab.page.evaluate(JOB, {"state": "cancelled"})
    expect(tab.page.get_by_text("Cancelled; these were done.")).to_be_visible()
    expect(shown.locator("caption")).to_have_text("The smallest loss first")
    expect(shown.get_by_role("button", name="Use this method: least-loss")).to_be_visible()
    tab.close()


def test_the_report_is_shown_in_its_frame(browser: Browser, finished: Running) -> None:
    tab = Tab(browser, finished)
    tab.go("result")
    tab.page.wait_for_selector("iframe.report")
    frame = tab.page.frame_locator("iframe.report")
    frame.locator("h1").wait_for()
    tab.close()
