"""Three pages of the documentation in a real browser, light and dark and on a phone: axe-core finds nothing, nothing is
asked for elsewhere, and search finds what it should."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from browsers import PATIENCE, browser_here, complaints_of, picture
from built_site import build_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    site = build_site(tmp_path_factory.mktemp("site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browser_here() as opened:
        yield opened


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 375)])
@pytest.mark.parametrize("name", ["index", "policy", "reference"])
def test_a_page_of_the_site(browser: Browser, address: str, name: str, scheme: Any, width: int) -> None:
    tab = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    tab.set_default_timeout(PATIENCE)
    elsewhere: list[str] = []
    tab.on("request", lambda request: None if request.url.startswith(address) else elsewhere.append(request.url))
    tab.goto(f"{address}/{name}.html", wait_until="networkidle")
    tab.screenshot(path=picture(f"site-{name}-{scheme}-{width}.png"))
    assert complaints_of(tab, runOnly=["wcag2a", "wcag2aa"]) == []
    assert [url for url in elsewhere if not url.startswith(("data:", "blob:"))] == []
    tab.context.close()
