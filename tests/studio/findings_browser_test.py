"""What Check finds, in a real browser: the promise at fault with a way to it, and what puts it right at a click."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from browsers import Tab, expect, picture
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FEW = """\
kveil: 1
data: {path: few.csv}
attributes:
  pid: {role: individual}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [10, 50]}}}
  job: {role: insensitive}
  sick: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 2}
algorithm: mondrian
"""


def _page(folder: Path, browser: Browser, studio_in: Callable[..., Running]) -> Tab:
    rows = "".join(f"{i // 2},{20 + i % 30},{'xy'[i % 2]},{'yn'[i // 2 % 2]}\n" for i in range(80))
    (folder / "few.csv").write_text(f"pid,age,job,sick\n{rows}")
    (folder / "policy.yaml").write_text(FEW)
    return Tab(browser, studio_in(folder, "policy.yaml"))


def test_findings_are_put_right_by_clicks_and_the_way_on_opens(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]
) -> None:
    tab = _page(tmp_path, browser, studio_in)
    page = tab.page
    page.wait_for_selector("table.columns, .drop")
    tab.go("check")
    onward = page.get_by_role("button", name="Go on to the run")
    expect(page.get_by_text("job is Harmless, and records of the same person differ in it")).to_be_visible()
    expect(onward).to_be_disabled()
    page.get_by_role("button", name="Release all of a person's values (To be protected)").click()
    tab.saved("job: {role: sensitive}")
    expect(page.get_by_text("Records of the same person differ in age")).to_be_visible()
    expect(onward).to_be_disabled()
    page.get_by_role("button", name="Show what covers all of a person's values").click()
    expect(page.get_by_text("Nothing is impossible")).to_be_visible()
    expect(onward).to_be_enabled()
    tab.close()


def test_no_promise_is_proposed_that_the_column_cannot_keep_and_the_one_at_fault_is_named(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]
) -> None:
    tab = _page(tmp_path, browser, studio_in)
    page = tab.page
    page.wait_for_selector("table.columns, .drop")
    text = FEW.replace("  pid: {role: individual}", "  pid: {role: identifier}")
    (tmp_path / "policy.yaml").write_text(text)
    tab.go("columns")
    expect(page.get_by_label("What is pid?")).to_have_value("identifier")
    tab.go("promises")
    page.get_by_role("button", name="+ add").click()
    expect(page.locator(".promise")).to_have_count(2)
    tab.saved("l: 2")
    wanted = page.get_by_label("at least so many values (l)")
    wanted.fill("3")
    wanted.press("Tab")
    tab.saved("l: 3")
    tab.go("check")
    expect(page.get_by_text("A promise cannot be kept")).to_be_visible()
    expect(page.get_by_text("2 values of sick, fewer than l = 3")).to_be_visible()
    expect(page.get_by_role("button", name="Go on to the run")).to_be_disabled()
    where = picture("check-promise.png")
    if where is not None:
        page.screenshot(path=where)
    page.get_by_role("button", name="Promise B", exact=True).click()
    promise = page.get_by_role("group", name="Promise B", exact=True)
    expect(promise).to_be_focused()
    expect(promise).to_contain_text("2 values of sick, fewer than l = 3")
    if where is not None:
        page.screenshot(path=str(picture("promise-fault.png")))
    promise.get_by_role("button", name="Ask for as much as the table allows").click()
    tab.saved("l: 2")
    tab.go("check")
    expect(page.get_by_text("Nothing is impossible")).to_be_visible()
    tab.close()
