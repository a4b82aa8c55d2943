"""The studio in a real browser: the first five minutes by mouse and by keyboard, and what a stranger's page may not.

Needs the extra `browser` and Debian's chromium. KVEIL_PICTURES=folder keeps the screenshots to look at.
"""

from __future__ import annotations

import http.server
import importlib.util
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kveil.datasets import hospital
from running_studio import Running

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = importlib.util.find_spec("axe_playwright_python")
if CHROMIUM is None:
    pytest.skip("chromium is not installed; apt-get install chromium makes this run", allow_module_level=True)
if importlib.util.find_spec("playwright") is None or AXE is None or AXE.origin is None:
    pytest.skip(
        "the extra `browser` is not installed; pip install '.[browser]' makes this run", allow_module_level=True
    )

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

PATIENCE = 120_000.0  # milliseconds; two busy cores
SCREENS = ("file", "columns", "steps", "promises", "check", "run", "result")
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Tab:
    """A tab that remembers what it asked for outside, and what it complained about."""

    def __init__(self, browser: Browser, running: Running, link: str | None = None, **options: Any) -> None:
        self.running = running
        self.outside: list[str] = []
        self.complaints: list[str] = []
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        context.set_default_timeout(PATIENCE)
        self.page: Page = context.new_page()
        self.page.on("request", self._asked)
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(link or running.link)
        self.page.wait_for_selector("main h2")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.running.origin, "data:", "blob:")):
            self.outside.append(request.url)

    def go(self, screen: str, column: str | None = None) -> None:
        where = screen if column is None else f"{screen}/{column}"
        self.page.evaluate(f"location.hash = {json.dumps(where)}")
        self.page.wait_for_selector("main h2")

    def saved(self, text: str) -> None:
        """Wait until the policy on the disk says something."""
        for _ in range(int(PATIENCE / 100)):
            if text in (self.running.folder / "policy.yaml").read_text():
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"the policy never said {text}")

    def close(self) -> None:
        assert self.outside == []
        assert [c for c in self.complaints if "422" not in c and "409" not in c] == []
        self.page.context.close()


def _keep(name: str) -> str | None:
    folder = os.environ.get("KVEIL_PICTURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
    return str(Path(folder) / name) if folder else None


def _raw_table(folder: Path) -> None:
    for name in ("patients.csv", "zip.csv"):
        shutil.copyfile(hospital() / name, folder / name)


def _released(folder: Path) -> Path:
    made = sorted((folder / "releases").iterdir())[-1]
    assert {"release.csv", "receipt.json", "owner.json", "report.html"} <= {path.name for path in made.iterdir()}
    return made


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
    tab.go("steps", "zip")
    page.get_by_role("button", name="Take a tree from a file…").click()
    page.get_by_label("File of the tree").select_option("zip.csv")
    page.get_by_role("button", name="Take it").click()
    page.locator(".node", has_text="New England").locator(".mark").click()
    expect(page.locator(".node.marked")).to_contain_text("stop here")
    assert "boundary: [New England]" in (tmp_path / "policy.yaml").read_text()
    tab.go("promises")
    k = page.get_by_label("at least so many look alike (k)")
    k.fill("4")
    k.press("Tab")
    expect(page.get_by_text("finds at least 4 records")).to_be_visible()
    page.get_by_role("button", name="+ another").click()
    expect(page.get_by_text("Take promise B away").or_(page.get_by_label("Take promise C away")).first).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    tab.go("check")
    expect(page.get_by_text("Nothing is impossible")).to_be_visible()
    tab.go("run")
    page.locator("select").first.select_option("mondrian")
    tab.saved("algorithm: mondrian")
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("button", name="See the result").click()
    expect(page.get_by_text("promises hold")).to_be_visible()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="All as a zip").click()
    assert downloading.value.suggested_filename == "to-publish.zip"
    _released(tmp_path)
    tab.close()


def _tab_to(page: Page, test: str, most: int = 250) -> None:
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
    page = tab.page
    keys = page.keyboard
    _tab_to(page, "e.tagName === 'BUTTON' && e.textContent.includes('patients.csv')")
    keys.press("Enter")
    page.wait_for_selector("table.columns")
    _tab_to(page, "e.ariaLabel === 'What is sex?'")
    keys.type("Names")
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
    _tab_to(page, "e.getAttribute('href') === '#run'", 400)
    keys.press("Enter")
    page.wait_for_selector("text=Make the release")
    _tab_to(page, "e.tagName === 'SELECT'")
    keys.type("mondrian")
    tab.saved("algorithm: mondrian")
    _tab_to(page, "e.textContent === 'Make the release' && !e.disabled")
    keys.press("Enter")
    page.wait_for_selector("text=See the result")
    _tab_to(page, "e.textContent === 'See the result'")
    keys.press("Enter")
    expect(page.get_by_text("promises hold")).to_be_visible()
    _released(tmp_path)
    tab.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a studio whose project has a release, for looking at all screens."""
    from running_studio import start

    folder = tmp_path_factory.mktemp("finished")
    for file in hospital().iterdir():
        if file.is_file():
            shutil.copyfile(file, folder / file.name)
    policy = folder / "policy.yaml"
    policy.write_text(policy.read_text().replace("algorithm: auto", "algorithm: mondrian"))
    running = start(folder, "policy.yaml")
    running.enter()
    for _ in range(300):
        if running.ask("GET", "state")["project"]:
            break
        time.sleep(0.1)
    job = running.job(running.ask("POST", "jobs", {"do": "run"})["number"], 400)
    assert job["state"] == "done", job
    yield running
    running.stop()


def _let_in(browser: Browser, running: Running, **options: Any) -> Tab:
    """Open another tab with the key that the first one got."""
    name, _, value = running.cookie.partition("=")
    tab = Tab.__new__(Tab)
    tab.running, tab.outside, tab.complaints = running, [], []
    context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": name, "value": value, "url": running.origin}])
    tab.page = context.new_page()
    tab.page.on("request", tab._asked)
    tab.page.on("console", lambda m: tab.complaints.append(m.text) if m.type == "error" else None)
    tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.page.goto(running.origin + "/")
    tab.page.wait_for_selector("main h2")
    return tab


READY = {
    "file": "text=2,000 records",
    "columns": "table.columns",
    "steps": ".node",
    "promises": ".promise",
    "check": "main .notice .big",
    "run": "text=Compare methods",
    "result": "iframe.report",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375, 640])
def test_every_screen_is_accessible_and_fits(browser: Browser, finished: Running, width: int, scheme: str) -> None:
    """640 pixels are what a page of 1280 has left at a zoom of 200 %."""
    tab = _let_in(browser, finished, viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert AXE is not None
    assert AXE.origin is not None
    axe = Path(AXE.origin).with_name("axe.min.js").read_text()
    for screen in SCREENS:
        tab.go(screen)
        tab.page.wait_for_selector(READY[screen], state="attached")
        tab.page.wait_for_timeout(400)
        tab.page.screenshot(full_page=True, path=_keep(f"{screen}-{width}-{scheme}.png"))
        wide = tab.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{screen} can be pushed sideways"
        tab.page.evaluate(axe)
        found = tab.page.evaluate("axe.run(document, {iframes: false})")
        wrong = [(rule["id"], [node["html"][:160] for node in rule["nodes"][:3]]) for rule in found["violations"]]
        assert wrong == [], screen
    tab.close()


def test_text_becomes_form_and_form_becomes_text(browser: Browser, studio: Running) -> None:
    tab = _let_in(browser, studio)
    page = tab.page
    tab.go("promises")
    page.wait_for_selector(".promise")
    editor = page.locator(".cm-content")
    text = (studio.folder / "policy.yaml").read_text()
    studio.ask("PUT", "policy/text", {"number": studio.number, "text": text.replace("k: 10}", "k: 12}")})
    expect(page.get_by_text("at least 12 records")).to_be_visible()
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("seed: 7\n")
    tab.saved("seed: 7")
    assert "# The promises. All of them must hold in the release." in (studio.folder / "policy.yaml").read_text()
    assert "seed: 7" in (studio.folder / "policy.yaml").read_text()
    page.keyboard.type("broken: [")
    expect(page.get_by_text("Not saved.")).to_be_visible()
    assert "broken" not in (studio.folder / "policy.yaml").read_text()
    assert page.evaluate("document.querySelector('main').inert")
    page.get_by_role("button", name="Go back to the saved text").click()
    expect(page.get_by_text("Not saved.")).to_have_count(0)
    tab.close()


def test_two_tabs_show_the_same_and_never_overwrite_each_other(browser: Browser, studio: Running) -> None:
    one, two = _let_in(browser, studio), _let_in(browser, studio)
    for tab in (one, two):
        tab.go("columns")
        tab.page.wait_for_selector("table.columns")
    one.page.get_by_label("What is city?").select_option("insensitive")
    expect(two.page.get_by_label("What is city?")).to_have_value("insensitive")
    two.page.get_by_label("What is state?").select_option("insensitive")
    expect(one.page.get_by_label("What is state?")).to_have_value("insensitive")
    text = (studio.folder / "policy.yaml").read_text()
    assert "city: {role: insensitive}" in text
    assert "state: {role: insensitive}" in text
    one.close()
    two.close()


def test_undo_goes_back_through_all_screens(browser: Browser, studio: Running) -> None:
    before = (studio.folder / "policy.yaml").read_bytes()
    tab = _let_in(browser, studio)
    page = tab.page
    tab.go("columns")
    page.get_by_label("What is insurance?").select_option("identifier")
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    tab.go("steps", "birth")
    page.get_by_label("quarter").check()
    tab.saved("quarter")
    tab.go("promises")
    page.get_by_label("show * in them").check()
    tab.saved("show: star")
    for _ in range(3):
        page.locator("h2").first.click()
        page.keyboard.press("Control+z")
        page.wait_for_timeout(700)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    assert (studio.folder / "policy.yaml").read_bytes() == before
    tab.close()


def test_a_dead_server_is_told_with_what_to_do(browser: Browser, studio: Running) -> None:
    tab = _let_in(browser, studio)
    studio.process.kill()
    studio.process.wait()
    expect(tab.page.get_by_text("The server has stopped.")).to_be_visible()
    assert str(studio.folder / "policy.yaml") in tab.page.locator(".gone").inner_text()
    tab.page.context.close()


def test_a_strangers_page_can_do_nothing(browser: Browser, studio: Running, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    target = studio.origin
    (evil / "index.html").write_text(
        f"""<form id=f method=post action="{target}/api/policy/undo" enctype="text/plain"><input name=a value=b></form>
        <iframe id=i src="{target}/"></iframe><img id=m src="{target}/static/icon.svg">"""
    )

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def __init__(self, *given: Any) -> None:
            super().__init__(*given, directory=str(evil))

    strange = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=strange.serve_forever, daemon=True).start()
    before = (studio.folder / "policy.yaml").read_bytes()
    studio.edit({"path": ["seed"], "value": 3})
    changed = (studio.folder / "policy.yaml").read_bytes()
    try:
        for host in ("127.0.0.1", "localhost"):
            tab = _let_in(browser, studio)  # the same browser that has the key
            page = tab.page
            statuses: list[int] = []
            page.on("response", lambda r, seen=statuses: seen.append(r.status) if r.url.startswith(target) else None)
            page.goto(f"http://{host}:{strange.server_address[1]}/")
            asked = """async (target) => {
                const json = { "content-type": "application/json" };
                const ways = [{}, { mode: "no-cors" }, { method: "POST", body: "{}", mode: "no-cors" },
                    { credentials: "include" }, { method: "POST", credentials: "include", headers: json, body: "{}" }];
                const tried = [];
                for (const given of ways) {
                    try {
                        const answer = await fetch(`${target}/api/policy/undo`, given);
                        tried.push(answer.type === "opaque" ? "opaque" : answer.status);
                    } catch (error) { tried.push("refused"); }
                }
                return tried;
            }"""
            assert set(page.evaluate(asked, target)) <= {"refused", "opaque"}
            page.evaluate("document.getElementById('f').submit()")
            page.wait_for_timeout(500)
            assert statuses
            assert all(status in (403, 405, 421) for status in statuses), statuses
            page.context.close()
    finally:
        strange.shutdown()
        strange.server_close()
    assert (studio.folder / "policy.yaml").read_bytes() == changed != before


def test_no_script_writes_markup_or_keeps_data() -> None:
    folder = Path(__file__).parents[2] / "src" / "kveil" / "studio" / "static"
    for file in folder.glob("*.js"):
        text = file.read_text()
        assert not re.search(
            r"innerHTML|dangerouslySetInnerHTML|localStorage|document\.write|\beval\(|new Function", text
        )
        assert "http://" not in text
        assert "https://" not in text


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


def test_where_values_stop_is_what_python_reckons(browser: Browser, finished: Running) -> None:
    import random

    tab = _let_in(browser, finished)
    rng = random.Random(1)
    for _ in range(60):
        size = rng.randrange(1, 40)
        parents = [-1] + [rng.randrange(node) for node in range(1, size)]
        inner = set(parents)
        records = [0 if node in inner else rng.randrange(9) for node in range(size)]
        marked = {node for node in range(size) if rng.random() < 0.3}
        got = tab.page.evaluate(
            """async ([parents, records, marked]) => {
                const { grown, stops } = await import("/static/plant.js");
                const tree = grown({ labels: parents.map((_, i) => `n${i}`), parents, records_below: records });
                return [...stops(tree, new Set(marked)).stopping];
            }""",
            [parents, records, sorted(marked)],
        )
        assert got == _naive_stops(parents, records, marked)
    tab.close()
