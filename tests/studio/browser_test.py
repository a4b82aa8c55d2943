"""The studio in a real browser: five minutes by mouse and by keyboard, text and form, tabs, undo, a dead server."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from browsers import Tab, expect
from kveil.datasets import hospital
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def _raw_table(folder: Path) -> None:
    for name in ("patients.csv", "zip.csv"):
        shutil.copyfile(hospital() / name, folder / name)


def _has_release(folder: Path) -> None:
    made = sorted((folder / "releases").iterdir())[-1]
    assert {"release.csv", "receipt.json", "owner.json", "report.html"} <= {path.name for path in made.iterdir()}


def test_the_first_five_minutes_by_mouse(tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]) -> None:
    _raw_table(tmp_path)
    tab = Tab(browser, studio_in(tmp_path), accept_downloads=True)
    page = tab.page
    page.get_by_role("button", name="patients.csv").click()
    page.wait_for_selector("table.columns")
    page.get_by_label("only those to decide").check()
    page.get_by_role("button", name="Tick all").click()
    page.get_by_label("Role of the ticked columns").select_option("identifier")
    expect(page.locator(".badge.warn")).to_have_count(0)
    page.get_by_role("button", name="Go on to steps and limits").click()
    page.locator(".side button", has_text="zip").click()
    page.get_by_role("button", name="Take a tree from a file…").click()
    page.get_by_label("File of the tree").select_option("zip.csv")
    page.get_by_role("button", name="Take it").click()
    tab.saved("hierarchy: zip.csv")
    page.locator(".node", has_text="New England").locator(".mark").click()
    expect(page.locator(".node.marked")).to_contain_text("stop here")
    tab.saved("boundary: [New England]")
    page.get_by_role("button", name="Go on to the promises").click()
    k = page.get_by_label("at least so many look alike (k)")
    k.fill("4")
    k.press("Tab")
    expect(page.get_by_text("finds at least 4 records")).to_be_visible()
    promises = page.locator(".promise").count()
    page.get_by_role("button", name="+ another").click()
    expect(page.locator(".promise")).to_have_count(promises + 1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".promise")).to_have_count(promises)
    page.get_by_role("button", name="Go on to the check").click()
    expect(page.get_by_text("Nothing is impossible")).to_be_visible()
    page.get_by_role("button", name="Go on to the run").click()
    page.get_by_label("Method", exact=True).select_option("mondrian")
    tab.saved("algorithm: mondrian")
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("button", name="See the result").click()
    expect(page.get_by_text("promises hold")).to_be_visible()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="All as a zip").click()
    assert downloading.value.suggested_filename == "to-publish.zip"
    page.get_by_role("button", name="Show eight records before and after").click()
    expect(page.get_by_label("Before and after").locator("tbody tr")).to_have_count(8)
    page.get_by_role("button", name="Play the attacker").click()
    expect(page.get_by_label("Attacks").locator("tbody tr").first).to_be_visible()
    _has_release(tmp_path)
    tab.close()


def _tab_to(page: Page, test: str, most: int = 400) -> None:
    """Press Tab until the focused element passes a test in JavaScript."""
    for _ in range(most):
        if page.evaluate(f"(() => {{ const e = document.activeElement; return Boolean({test}); }})()"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {test}")


def test_the_first_five_minutes_with_the_keyboard_alone(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]
) -> None:
    _raw_table(tmp_path)
    tab = Tab(browser, studio_in(tmp_path))
    page, keys = tab.page, tab.page.keyboard
    _tab_to(page, "e.tagName === 'BUTTON' && e.textContent.includes('patients.csv')")
    keys.press("Enter")
    page.wait_for_selector("table.columns")
    _tab_to(page, "e.ariaLabel === 'What is sex?'")
    keys.press("n")  # the only choice that starts so: Names somebody
    tab.saved("sex: {role: identifier}")
    _tab_to(page, "e.getAttribute('href') === '#steps'")
    keys.press("Enter")
    page.wait_for_selector(".side")
    _tab_to(page, "e.matches('.side button') && e.textContent.startsWith('state')")
    keys.press("Enter")
    page.wait_for_selector("[role=tree][aria-label='Steps of state']")
    _tab_to(page, "e.role === 'tree'")
    keys.press("ArrowDown")
    keys.press("Space")
    expect(page.locator(".node.marked")).to_have_count(1)
    keys.press("ArrowRight")
    keys.press("Control+z")
    expect(page.locator(".node.marked")).to_have_count(0)
    _tab_to(page, "e.getAttribute('href') === '#promises'")
    keys.press("Enter")
    page.wait_for_selector(".promise")
    _tab_to(page, "e.matches('.promise input[type=number]')")
    keys.press("Control+a")
    keys.type("4")
    keys.press("Enter")
    tab.saved("k: 4")
    _tab_to(page, "e.getAttribute('href') === '#run'")
    keys.press("Enter")
    page.wait_for_selector("text=Make the release")
    _tab_to(page, "e.tagName === 'SELECT'")
    keys.press("m")  # the only choice that starts so: mondrian
    tab.saved("algorithm: mondrian")
    _tab_to(page, "e.textContent === 'Make the release' && !e.disabled")
    keys.press("Enter")
    page.wait_for_selector("text=See the result")
    _tab_to(page, "e.textContent === 'See the result'")
    keys.press("Enter")
    expect(page.get_by_text("promises hold")).to_be_visible()
    _has_release(tmp_path)
    tab.close()


def test_text_becomes_form_and_form_becomes_text(browser: Browser, studio: Running) -> None:
    tab = Tab(browser, studio)
    page = tab.page
    tab.go("run")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("seed: 7\n")
    tab.saved("seed: 7")
    page.get_by_text("What counts as loss, the seed").click()
    expect(page.locator("#field-seed")).to_have_value("7")
    page.locator("#field-seed").fill("8")
    page.locator("#field-seed").press("Enter")
    tab.saved("seed: 8")
    expect(page.locator(".cm-content")).to_contain_text("seed: 8")
    expect(page.locator(".cm-lit")).to_have_count(1)
    assert "# The promises. All of them must hold in the release." in tab.policy
    tab.close()


def test_a_broken_text_is_told_with_its_line_and_never_saved(browser: Browser, studio: Running) -> None:
    before = (studio.folder / "policy.yaml").read_bytes()
    tab = Tab(browser, studio)
    page = tab.page
    tab.go("promises")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("broken: [")
    expect(page.get_by_text("Not saved.")).to_be_visible()
    expect(page.locator("aside .notice.bad")).to_contain_text("line")
    assert page.evaluate("document.querySelector('main').inert")
    assert (studio.folder / "policy.yaml").read_bytes() == before
    page.reload()
    expect(page.get_by_text("Not saved.")).to_be_visible()  # the tab kept what was typed
    page.get_by_role("button", name="Go back to the saved text").click()
    expect(page.get_by_text("Not saved.")).to_have_count(0)
    assert not page.evaluate("document.querySelector('main').inert")
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    tab.close()


def test_two_tabs_show_the_same_and_never_overwrite_each_other(browser: Browser, studio: Running) -> None:
    one, two = Tab(browser, studio), Tab(browser, studio)
    for tab in (one, two):
        tab.go("columns")
        tab.page.wait_for_selector("table.columns")
    one.page.get_by_label("What is city?").select_option("insensitive")
    expect(two.page.get_by_label("What is city?")).to_have_value("insensitive")
    two.page.get_by_label("What is state?").select_option("insensitive")
    expect(one.page.get_by_label("What is state?")).to_have_value("insensitive")
    assert "city: {role: insensitive}" in one.policy
    assert "state: {role: insensitive}" in one.policy
    one.close()
    two.close()


def test_undo_goes_back_through_all_screens(browser: Browser, studio: Running) -> None:
    before = (studio.folder / "policy.yaml").read_bytes()
    tree = (studio.folder / "zip.csv").read_bytes()
    tab = Tab(browser, studio)
    page = tab.page
    tab.go("columns")
    page.get_by_label("What is insurance?").select_option("identifier")
    tab.saved("insurance: {role: identifier}")
    tab.go("steps", "birth")
    page.get_by_label("quarter").click()
    tab.saved("quarter")
    tab.go("steps", "zip")
    page.locator(".node", has_text="Midwest").first.click()
    page.get_by_role("button", name="Dissolve").click()
    expect(page.locator(".node", has_text="Midwest")).to_have_count(0)
    tab.go("promises")
    page.get_by_label("show * in them").click()
    tab.saved("show: star")
    page.get_by_role("button", name="History").click()
    expect(page.get_by_role("dialog").locator("li")).to_have_count(4)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for said in ("show: star", "", "quarter", "insurance: {role: identifier}"):
        page.locator("h2").first.click()
        page.keyboard.press("Control+z")
        if said:
            tab.saved(said, gone=True)
        else:
            expect(page.get_by_text("Undone: zip: ")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    assert (studio.folder / "policy.yaml").read_bytes() == before
    assert (studio.folder / "zip.csv").read_bytes() == tree
    tab.close()


def test_a_server_that_is_killed_in_a_run_is_told_with_what_to_do(browser: Browser, own_studio: Running) -> None:
    own_studio.edit({"path": ["algorithm"], "value": {"name": "least-loss", "refine_seconds": 60}})
    tab = Tab(browser, own_studio)
    page = tab.page
    tab.go("run")
    page.get_by_role("button", name="Make the release").click()
    page.wait_for_selector(".progress")
    text = tab.policy
    os.kill(own_studio.process.pid, signal.SIGKILL)
    own_studio.process.wait()
    expect(page.get_by_text("The server has stopped.")).to_be_visible()
    assert str(own_studio.folder / "policy.yaml") in page.locator(".gone").inner_text()
    assert tab.policy == text
    assert list(own_studio.folder.rglob("release.*")) == []
    page.context.close()


def _naive_stops(parents: list[int], records: list[int], marked: set[int]) -> list[int]:
    """The slow twin: every leaf walks up until it meets a limit."""
    children = set(parents)
    found = [0] * len(parents)
    for node in range(len(parents)):
        if node in children:
            continue
        up = node
        while up not in marked and parents[up] >= 0:
            up = parents[up]
        if up in marked and parents[up] >= 0:
            found[up] += records[node]
    return found


def _naive_visible(parents: list[int], opened: set[int], node: int = 0) -> list[int]:
    """The slow twin: a node, then what shows below its children where it is open."""
    below = [child for child, parent in enumerate(parents) if parent == node] if node in opened else []
    return [node, *(row for child in below for row in _naive_visible(parents, opened, child))]


def test_what_shows_and_where_values_stop_is_what_python_reckons(browser: Browser, studio: Running) -> None:
    tab = Tab(browser, studio)
    rng = random.Random(1)
    for _ in range(40):
        size = rng.randrange(1, 40)
        parents = [-1] + [rng.randrange(node) for node in range(1, size)]
        records = [0 if node in set(parents) else rng.randrange(9) for node in range(size)]
        marked = {node for node in range(size) if rng.random() < 0.3}
        opened = {node for node in range(size) if rng.random() < 0.7}
        got = tab.page.evaluate(
            """async ([parents, records, marked, opened]) => {
                const { grown, stops, visible } = await import("./static/plant.js");
                const tree = grown({ labels: parents.map((_, i) => `n${i}`), parents, records_below: records });
                return [[...stops(tree, new Set(marked)).stopping], visible(tree, new Set(opened))];
            }""",
            [parents, records, sorted(marked), sorted(opened)],
        )
        assert got == [_naive_stops(parents, records, marked), _naive_visible(parents, opened)]
    tab.close()
