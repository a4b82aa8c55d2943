"""Two tables in one folder, in a real browser: nothing of one is ever shown with the other, in any order of screens.

Every name in the first table, its files and its policy has `maple` in it, in the second `cedar`; so a screen that holds
the other's word shows something that is not its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsers import Tab, expect
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SCREENS = ("file", "columns", "steps", "promises", "check", "run", "result")
SHOWN = """() => { const main = document.querySelector("main").cloneNode(true);
  for (const list of main.querySelectorAll(".files")) list.remove();
  const beside = document.querySelector("aside.text")?.innerText;
  return main.innerText + document.querySelector("header").innerText + beside; }"""


def _write(folder: Path, word: str, rows: int) -> None:
    """Write a table and its policy, whose names all hold a word."""
    rng = random.Random(1)
    people = [(rng.randrange(100), "mf"[i % 2], rng.randrange(10_000), f"{word}-ill-{i % 3}") for i in range(rows)]
    lines = "".join(f"{age},{sex},{income},{ill}\n" for age, sex, income, ill in people)
    (folder / f"{word}.csv").write_text(f"{word}_age,{word}_sex,{word}_income,{word}_ill\n{lines}")
    (folder / f"{word}.yaml").write_text(
        f"kveil: 1\ndata: {{path: {word}.csv}}\nattributes:\n"
        f"  {word}_age: {{role: quasi-identifier, hierarchy: {{intervals: {{from: 0, to: 99, widths: [10, 50]}}}}}}\n"
        f"  {word}_income: {{role: quasi-identifier, "
        "hierarchy: {intervals: {from: 0, to: 9999, widths: [10, 100, 1000]}}}\n"
        f"  {word}_sex: {{role: quasi-identifier}}\n  {word}_ill: {{role: sensitive}}\n"
        "privacy:\n  - {model: k-anonymity, k: 3}\nalgorithm: mondrian\n"
    )


@pytest.fixture
def two(tmp_path: Path, studio_in: Callable[..., Running]) -> Running:
    """A studio in a folder with two tables; the first has a release, a comparison, its risk and an attack."""
    _write(tmp_path, "maple", 60)
    _write(tmp_path, "cedar", 80)
    running = studio_in(tmp_path)
    running.enter()
    running.ask("POST", "open", {"path": "maple.yaml"})
    for do in ("run", "risk", "rules"):
        assert running.job(running.ask("POST", "jobs", {"do": do})["number"])["state"] == "done"
    wish = {"do": "compare", "algorithms": ["mondrian", "datafly"]}
    assert running.job(running.ask("POST", "jobs", wish)["number"])["state"] == "done"
    run = running.ask("GET", "runs")["runs"][0]["run"]
    assert running.job(running.ask("POST", "jobs", {"do": "attack", "run": run})["number"])["state"] == "done"
    return running


def _shows_only(tab: Tab, word: str, other: str) -> None:
    """See that a tab comes to show one table and nothing of the other; and that it stays so."""
    tab.page.wait_for_function(f"() => document.querySelector('.where')?.innerText.includes('{word}.yaml')")
    tab.page.wait_for_function(f"() => !({SHOWN})().includes('{other}')")
    assert other not in tab.page.evaluate(SHOWN)


def test_after_every_screen_every_screen_is_of_the_open_table(browser: Browser, two: Running) -> None:
    tab = Tab(browser, two)
    for before in SCREENS:
        two.ask("POST", "open", {"path": "maple.yaml"})
        tab.go(before)
        _shows_only(tab, "maple", "cedar")
        if before == "run":
            expect(tab.page.get_by_text("Released and verified")).to_be_visible()
            expect(tab.page.get_by_role("region", name="Comparison")).to_be_visible()
        two.ask("POST", "open", {"path": "cedar.yaml"})
        for after in (before, *SCREENS):
            tab.go(after)
            _shows_only(tab, "cedar", "maple")
            if after == "run":
                expect(tab.page.get_by_text("Released and verified")).to_have_count(0)
                expect(tab.page.get_by_role("region", name="Comparison")).to_have_count(0)
            if after == "result":
                expect(tab.page.get_by_text("No release has been made yet")).to_be_visible()
        expect(tab.page.locator("nav .badge", has_text="1")).to_have_count(0)
    tab.close()


def test_a_reload_and_a_second_tab_show_the_open_table_alone(browser: Browser, two: Running) -> None:
    tab = Tab(browser, two)
    tab.go("run")
    expect(tab.page.get_by_text("Released and verified")).to_be_visible()
    other = Tab(browser, two)
    other.go("file")
    other.page.get_by_role("button", name="cedar.yaml").click()
    for each in (tab, other):
        each.go("run")
        _shows_only(each, "cedar", "maple")
        each.page.reload()
        _shows_only(each, "cedar", "maple")
        expect(each.page.get_by_text("Released and verified")).to_have_count(0)
    other.close()
    tab.close()


def test_what_is_under_way_for_one_table_is_told_on_the_other_as_that(browser: Browser, two: Running) -> None:
    _write(two.folder, "maple", 40_000)
    two.ask("POST", "open", {"path": "maple.yaml"})
    two.edit({"path": ["algorithm"], "value": {"name": "least-loss", "refine_seconds": 60}})
    tab = Tab(browser, two)
    page = tab.page
    tab.go("run")
    page.get_by_role("button", name="Make the release").click()
    page.wait_for_selector(".progress")
    tab.go("file")
    page.get_by_role("button", name="cedar.yaml").click()
    page.wait_for_selector("table.columns")
    tab.go("run")
    expect(page.locator(".progress")).to_have_count(0)
    expect(page.get_by_text("A release is being made for another table")).to_contain_text("maple.yaml")
    page.get_by_role("button", name="Make the release").click()  # which waits for nothing of the other one
    expect(page.get_by_text("80 of 80 records")).to_be_visible()
    page.get_by_role("button", name="Go there").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. Nothing was written.")).to_be_visible()
    expect(page.get_by_text("for another table")).to_have_count(0)
    for policy in ("maple.yaml", "cedar.yaml"):
        two.ask("POST", "open", {"path": policy})
        expect(page.locator("nav .badge", has_text="1")).to_be_visible()
    assert sorted(path.name for path in two.folder.glob("releases*")) == ["releases", "releases-cedar"]
    tab.close()


def test_no_sentence_of_a_state_that_was_corrected_stays(browser: Browser, two: Running) -> None:
    two.ask("POST", "open", {"path": "cedar.yaml"})
    two.edit({"path": ["attributes", "cedar_age", "hierarchy", "intervals", "to"], "value": 22})
    tab = Tab(browser, two)
    page = tab.page
    tab.go("check")
    page.get_by_role("button", name="Look how many are alone").click()
    expect(page.locator("main").get_by_text("cedar_age").nth(1)).to_be_visible()
    tab.go("run")
    page.get_by_role("button", name="Make the release").click()
    expect(page.get_by_text("No release was made")).to_be_visible()
    two.edit({"path": ["attributes", "cedar_age", "hierarchy", "intervals", "to"], "value": 99})
    expect(page.get_by_text("No release was made")).to_have_count(0)
    tab.go("check")
    expect(page.get_by_text("Nothing is impossible")).to_be_visible()
    expect(page.locator("main .bad")).to_have_count(0)
    text = (two.folder / "cedar.csv").read_text()
    (two.folder / "cedar.csv").write_text(text + "200,m,5,cedar-ill-1\n")  # corrected in the table itself
    expect(page.locator("main .notice.bad")).to_be_visible()
    (two.folder / "cedar.csv").write_text(text)
    expect(page.get_by_text("Nothing is impossible")).to_be_visible()
    expect(page.locator("main .bad")).to_have_count(0)
    tab.close()


def test_what_is_typed_for_one_policy_never_gets_into_another(browser: Browser, two: Running) -> None:
    before = {name: (two.folder / name).read_bytes() for name in ("maple.yaml", "cedar.yaml")}
    tab = Tab(browser, two)
    page = tab.page
    tab.go("promises")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("# mine\n")
    two.ask("POST", "open", {"path": "cedar.yaml"})
    _shows_only(tab, "cedar", "maple")
    page.wait_for_timeout(1500)  # longer than a pause in typing
    assert (two.folder / "cedar.yaml").read_bytes() == before["cedar.yaml"]
    assert not page.evaluate("document.querySelector('main').inert")
    tab.close()


def test_tables_that_are_dropped_and_tables_of_the_same_name_are_kept_apart(browser: Browser, two: Running) -> None:
    raw = (two.folder / "cedar.csv").read_bytes()
    inside = two.folder / "inside"
    inside.mkdir()
    _write(inside, "maple", 33)
    tab = Tab(browser, two)
    page = tab.page
    tab.go("file")
    page.set_input_files("input[type=file]", {"name": "cedar.csv", "mimeType": "text/csv", "buffer": raw})
    page.wait_for_selector("table.columns")
    for screen in SCREENS:
        tab.go(screen)
        assert "maple" not in page.evaluate(SHOWN)
    two.ask("POST", "open", {"path": "inside/maple.yaml"})
    tab.go("run")
    page.wait_for_function("() => document.querySelector('.where').innerText.includes('inside/maple.yaml')")
    expect(page.get_by_text("Released and verified")).to_have_count(0)
    tab.go("result")
    expect(page.get_by_text("No release has been made yet")).to_be_visible()
    tab.close()
