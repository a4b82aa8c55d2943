"""What a stranger's page may not: every refusal tried by a real browser that has the studio's key."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browsers import PATIENCE, REBOUND, Tab
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STATIC = Path(__file__).parents[2] / "src" / "kveil" / "studio" / "static"


class Stranger(http.server.ThreadingHTTPServer):
    """Another server on this machine; it remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cookies: list[str] = []
        stranger = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stranger.asked.append(self.path)
                stranger.cookies.append(self.headers.get("Cookie") or "")
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>stranger</title><p>stranger")

            def log_message(self, *_: Any) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@pytest.fixture(scope="module")
def stranger() -> Iterator[Stranger]:
    server = Stranger()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(params=["127.0.0.1", "localhost"])
def strange(browser: Browser, finished: Running, stranger: Stranger, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A stranger's page, on another port or under another name, in the browser that has the studio's key.

    The policy has a step that could be undone; nobody undoes it.
    """
    finished.edit({"path": ["seed"], "value": 3})
    before = (finished.folder / "policy.yaml").read_bytes(), finished.number
    tab = Tab(browser, finished)
    tab.page.goto(f"http://{request.param}:{stranger.port}/")
    yield tab.page
    tab.page.context.close()
    assert ((finished.folder / "policy.yaml").read_bytes(), finished.number) == before
    assert finished.process.poll() is None


FETCHES = """async (target) => {
  const json = { "content-type": "application/json" };
  const ways = [{}, { mode: "no-cors" }, { credentials: "include" }, { mode: "no-cors", credentials: "include" },
    { method: "POST", body: "{}", mode: "no-cors", credentials: "include" },
    { method: "POST", body: "{}", credentials: "include", headers: json },
    { method: "PUT", body: "{}", credentials: "include", headers: json },
    { method: "DELETE", credentials: "include" }];
  const got = new Set();
  for (const path of ["/", "/api/state", "/api/policy/undo", "/api/stop"]) for (const way of ways) {
    try { const answer = await fetch(target + path, way); got.add(answer.type === "opaque" ? "opaque" : "read"); }
    catch (error) { got.add("refused"); }
  }
  return [...got].sort();
}"""


def test_fetches_of_a_stranger_read_and_change_nothing(strange: Page, finished: Running) -> None:
    statuses: set[int] = set()
    strange.on("response", lambda r: statuses.add(r.status) if r.url.startswith(finished.origin) else None)
    assert set(strange.evaluate(FETCHES, finished.home)) <= {"refused", "opaque"}
    assert statuses <= {403, 405}, statuses


FORM = """([target, kind]) => { const form = document.createElement("form");
  Object.assign(form, { method: "post", action: `${target}/api/policy/undo`, enctype: kind, target: "_blank" });
  form.innerHTML = "<input name=a value=b>"; document.body.append(form); form.submit(); }"""


def test_forms_of_a_stranger_change_nothing(strange: Page, finished: Running) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        with strange.expect_popup() as opened:
            strange.evaluate(FORM, [finished.home, kind])
        opened.value.get_by_text("Only the studio's own page may ask this.").wait_for()
        opened.value.close()


EMBEDDED = """([target, tag]) => new Promise((done) => { const e = document.createElement(tag);
  e.onload = () => done("shown"); e.onerror = () => done("refused");
  if (tag === "link") Object.assign(e, { rel: "stylesheet", href: `${target}/static/style.css` });
  else e.src = target + { img: "/static/icon.svg", script: "/static/app.js" }[tag];
  document.body.append(e); })"""


def test_nothing_of_the_studio_is_shown_inside_a_strangers_page(strange: Page, finished: Running) -> None:
    for tag in ("img", "script", "link"):
        assert strange.evaluate(EMBEDDED, [finished.home, tag]) == "refused", tag
    strange.evaluate(
        "(target) => { const e = document.createElement('iframe'); e.src = target + '/'; document.body.append(e); }",
        finished.home,
    )
    framed = strange.frame_locator("iframe").locator("body")
    framed.wait_for(state="attached")
    assert "kveil studio" not in framed.inner_text()


def test_a_strangers_link_leads_to_a_closed_door(strange: Page, finished: Running) -> None:
    with strange.expect_navigation() as arrived:
        strange.evaluate("(target) => { location.href = target; }", finished.home + "/")
    assert arrived.value is not None
    assert arrived.value.status == 403
    assert "token" not in strange.content()


def test_events_and_sockets_tell_a_stranger_nothing(strange: Page, finished: Running) -> None:
    told = strange.evaluate(
        """(target) => Promise.all([
          new Promise((done) => { const e = new EventSource(`${target}/api/events`, { withCredentials: true });
            e.onerror = () => { e.close(); done("closed"); }; e.onmessage = () => done("told"); }),
          new Promise((done) => { const s = new WebSocket(`${target.replace("http", "ws")}/api/events`);
            s.onerror = () => done("closed"); s.onopen = () => done("told"); })])""",
        finished.home,
    )
    assert told == ["closed", "closed"]


def test_a_name_that_was_rebound_to_this_machine_is_refused(browser: Browser, finished: Running) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    for path in ("/", f"{finished.room}/", f"{finished.room}/api/state", "/?token=" + "x" * 43):
        answer = page.goto(f"http://{REBOUND}:{finished.port}{path}")
        assert answer is not None
        assert answer.status == 421
    page.close()


def test_a_browser_without_the_link_is_refused_and_the_link_opens_for_one(
    browser: Browser, project: Path, studio_in: Callable[..., Running]
) -> None:
    running = studio_in(project)
    first, second, third = (browser.new_page() for _ in range(3))
    for page in (first, second, third):
        page.set_default_timeout(PATIENCE)
    refused = third.goto(f"{running.origin}/")
    assert refused is not None
    assert refused.status == 403
    entered = first.goto(running.link)
    assert entered is not None
    assert entered.status == 200
    assert "token" not in first.url  # nor is it in the history
    again = second.goto(running.link)
    assert again is not None
    assert again.status == 403
    assert "used" in second.content()
    for page in (first, second, third):
        page.context.close()


def test_scripts_in_a_report_run_nothing_and_reach_nobody(
    browser: Browser, finished: Running, stranger: Stranger
) -> None:
    (made,) = (finished.folder / "releases").iterdir()
    report = made / "report.html"
    original = report.read_bytes()
    outside = f"http://127.0.0.1:{stranger.port}"
    report.write_bytes(
        original.replace(
            b"</body>",
            f"""<script>document.title = "ran"; top.location = "{outside}/top"; fetch("{outside}/fetch");</script>
            <img src="{outside}/img" onerror="document.title = 'ran'"><link rel=stylesheet href="{outside}/css">
            <form action="{outside}/form"><button id=go></button></form><p id=last>last</p></body>""".encode(),
        )
    )
    try:
        tab = Tab(browser, finished)
        stranger.asked.clear()
        tab.go("result")
        frame = tab.page.frame_locator("iframe.report")
        frame.locator("#last").wait_for(state="attached")
        frame.locator("#go").dispatch_event("click")
        alone = tab.page.context.new_page()  # as a page of its own: the header alone keeps it quiet
        alone.goto(f"{finished.home}/api/runs/{made.name}/report.html?show=1")
        alone.wait_for_selector("#last", state="attached")
        assert alone.title() != "ran"
        assert tab.page.url.startswith(finished.origin)
        assert stranger.asked == []
        tab.page.context.close()
    finally:
        report.write_bytes(original)


def test_names_and_values_from_a_table_are_shown_as_text(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]
) -> None:
    evil = "<img src=x onerror=document.title='ran'>"
    lines = [f"{evil},sex,zip,illness", *(f"{evil} {i % 3},{'FM'[i % 2]},021{i % 7}0,{evil}" for i in range(60))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    tab = Tab(browser, studio_in(tmp_path))
    page = tab.page
    page.get_by_role("button", name="t.csv").click()
    page.wait_for_selector("table.columns")
    page.get_by_label(f"What is {evil}?").select_option("identifier")
    page.get_by_role("button", name=evil, exact=True).click()
    page.get_by_text("name people, so they are not shown").wait_for()
    page.get_by_label(f"What is {evil}?").select_option("quasi-identifier")  # the values stay open, and are shown now
    page.get_by_text(f"{evil} 1").first.wait_for()
    tab.go("steps")
    page.wait_for_selector(".node")
    assert page.locator("main img").count() == 0
    assert page.title() != "ran"
    tab.close()


def test_the_page_runs_no_inline_script_and_no_text_as_code(browser: Browser, finished: Running) -> None:
    tab = Tab(browser, finished)
    tab.page.evaluate(
        """() => { const script = document.createElement("script"); script.textContent = "window.ran = true";
          document.body.append(script);
          document.body.insertAdjacentHTML("beforeend", "<i onclick='window.ran = true'>");
          document.querySelector("body > i").click(); setTimeout("window.ran = true", 0); }"""
    )
    tab.page.wait_for_timeout(300)
    assert tab.page.evaluate("window.ran ?? null") is None
    assert any("Content Security Policy" in told for told in tab.complaints)
    tab.page.context.close()


OUTSIDE = ["../", "..%2f..%2fetc", "/etc", "%2fetc%2fpasswd", ".hidden", "link", "link/passwd", "a/../../.."]


def test_the_page_itself_reaches_no_file_outside_its_folder(browser: Browser, finished: Running) -> None:
    (finished.folder / "link").symlink_to("/etc")
    (finished.folder / ".hidden").mkdir()
    tab = Tab(browser, finished)
    for path in OUTSIDE:
        got = tab.page.evaluate(
            """async (path) => {
              const body = JSON.stringify({ path: decodeURIComponent(path) });
              const asked = [fetch(`api/files?under=${path}`),
                fetch("api/open", { method: "POST", headers: { "content-type": "application/json" }, body })];
              return Promise.all(asked.map(async (one) => { const a = await one; return [a.status, await a.text()]; }));
            }""",
            path,
        )
        assert all(status in (403, 404) for status, _ in got), (path, got)
        assert not any("root:" in text for _, text in got)
    tab.page.context.close()


def test_a_stranger_that_the_browser_is_led_to_by_hand_is_not_sent_the_key(
    browser: Browser, finished: Running, stranger: Stranger
) -> None:
    tab = Tab(browser, finished)
    stranger.cookies.clear()
    for path in ("/", "/api/state", "/static/app.js", "/?token=x"):
        tab.page.goto(f"http://127.0.0.1:{stranger.port}{path}")
    assert set(stranger.cookies) == {""}
    tab.page.goto(f"http://127.0.0.1:{stranger.port}{finished.room}/")  # only who knows the page's own path gets it
    assert finished.cookie in stranger.cookies
    tab.page.context.close()


def test_two_studios_in_one_browser_leave_each_other_alone(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]
) -> None:
    studios = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.csv").write_text("age,sex\n" + "31,F\n45,M\n" * 20)
        studios.append(studio_in(tmp_path / name))
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    pages = [context.new_page() for _ in studios]
    for page, studio in zip(pages, studios, strict=True):
        page.goto(studio.link)
    for page, name in zip(pages, ("one", "two"), strict=True):
        page.get_by_role("button", name=f"{name}.csv").click()
        page.wait_for_selector("table.columns")
        page.reload()  # its key is still good, though the other studio has given one since
        page.wait_for_selector("table.columns")
    other = pages[1].url.split("#")[0].replace(str(studios[1].port), str(studios[0].port))
    answer = pages[1].goto(other)  # the second one's path and key at the first
    assert answer is not None
    assert answer.status == 403
    own = "async (target) => { try { return (await fetch(target)).status; } catch { return 0; } }"
    assert pages[0].evaluate(own, f"{studios[1].origin}/api/state") == 0
    context.close()


def test_the_browser_keeps_nothing(browser: Browser, finished: Running) -> None:
    tab = Tab(browser, finished)
    kept: list[str] = []
    tab.page.on("response", lambda r: kept.append(r.url) if r.headers.get("cache-control") != "no-store" else None)
    for screen in ("file", "columns", "steps", "promises", "check", "run", "result"):
        tab.go(screen)
    tab.page.wait_for_selector("iframe.report")
    assert kept == []
    stored = """async () => [localStorage.length, sessionStorage.length, (await indexedDB.databases()).length,
      (await caches.keys()).length]"""
    assert tab.page.evaluate(stored) == [0, 0, 0, 0]
    assert tab.page.evaluate("document.cookie") == ""
    tab.close()


def test_no_script_writes_markup_or_keeps_data() -> None:
    for file in STATIC.glob("*.js"):
        text = file.read_text()
        assert not re.search(
            r"innerHTML|dangerouslySetInnerHTML|localStorage|document\.write|\beval\(|new Function|https?://", text
        ), file.name
