"""The pages in a real browser: nothing from outside, nothing cut off, and axe-core finds nothing to complain about.

Needs the extra `browser` and Debian's chromium. KVEIL_PICTURES=folder keeps the screenshots and PDFs to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import kveil
from browsers import PATIENCE, browser_here, complaints_of, picture
from kveil.datasets import hospital
from kveil.flow.compare import compare
from kveil.report.page import comparison_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = {"desktop": 1280, "phone": 390}
PAGES = ("owner", "public", "comparison", "everything", "rules")
RULES = """\
kveil: 1
attributes:
  patient_id: {{role: identifier}}
  name: {{role: identifier}}
  birth: {{role: quasi-identifier, hierarchy: {{dates: [month, year, decade]}}, boundary: {{level: 3}}}}
  sex: {{role: quasi-identifier}}
  zip: {{role: quasi-identifier, hierarchy: {home}/zip.csv}}
  city: {{role: quasi-identifier, hierarchy: {home}/city.csv}}
  state: {{role: quasi-identifier, hierarchy: {home}/state.csv, boundary: {{level: 1}}}}
  weight: {{role: quasi-identifier, hierarchy: {{ranges: {{within: [0, 200], round: 5}}}}, boundary: {{max_width: 60}}}}
  department: {{role: identifier}}
  phone: {{role: identifier}}
  diagnosis: {{role: sensitive}}
  insurance: {{role: insensitive}}
privacy:
  - {{model: k-anonymity, attributes: [birth, sex, zip, city, state], k: 5}}
  - {{model: l-diversity, sensitive: diagnosis, l: 2}}
dependencies: ["zip -> city", "city -> state"]
suppression: {{limit: 0.2, show: star}}
algorithm: mondrian
"""


def _frame(name: str) -> pl.DataFrame:
    return pl.read_csv(hospital() / name, infer_schema=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one page of every kind."""
    folder = tmp_path_factory.mktemp("pages")
    policy = kveil.Policy.load(hospital() / "policy.yaml")
    patients, visits = _frame("patients.csv").head(600), _frame("visits.csv").head(1500)
    result = kveil.anonymize(patients, policy, algorithm="mondrian")
    result.report(folder / "owner.html")
    result.report(folder / "public.html", public=True)
    compared = compare(patients, policy, ["datafly", "mondrian"])
    (folder / "comparison.html").write_text(comparison_page(policy, compared))
    # Several records per person, boundaries and dependencies at once.
    kveil.anonymize(visits, kveil.Policy.load(hospital() / "everything.yaml")).report(folder / "everything.html")
    (folder / "rules.yaml").write_text(RULES.format(home=hospital()))
    kveil.anonymize(patients, kveil.Policy.load(folder / "rules.yaml")).report(folder / "rules.html")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browser_here() as opened:
        yield opened


def _opened(browser: Browser, page: Path, width: int, scheme: Any) -> tuple[Page, list[str]]:
    """Return a page in a window of a width, and the addresses it asks for that are not its own."""
    tab = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    tab.set_default_timeout(PATIENCE)
    strange: list[str] = []
    own = page.as_uri()
    tab.on("request", lambda request: strange.append(request.url) if request.url != own else None)
    tab.goto(own)
    return tab, strange


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_in_the_browser(browser: Browser, pages: Path, name: str, device: str, scheme: str) -> None:
    tab, strange = _opened(browser, pages / f"{name}.html", WIDTHS[device], scheme)
    assert tab.title()
    wide = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, "the page can be pushed sideways"
    kept = picture(f"{name}-{device}-{scheme}.png")
    shot = tab.screenshot(full_page=True, path=kept)
    assert shot.startswith(b"\x89PNG")
    assert complaints_of(tab) == []
    assert strange == []
    tab.context.close()


def test_what_is_not_accessible_is_complained_about(browser: Browser) -> None:
    tab = browser.new_context().new_page()
    tab.set_content("<html lang=en><title>x</title><main><h1>x</h1><p style='color: #ccc'>pale</p><input></main>")
    assert complaints_of(tab) == [("color-contrast", ['<p style="color: #ccc">pale</p>']), ("label", ["<input>"])]
    tab.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_on_paper(browser: Browser, pages: Path, name: str) -> None:
    tab, strange = _opened(browser, pages / f"{name}.html", WIDTHS["desktop"], "dark")
    kept = picture(f"{name}.pdf")
    paper = tab.pdf(format="A4", print_background=True, path=kept)
    assert paper.startswith(b"%PDF")
    assert strange == []
    tab.context.close()


def test_a_page_says_everything_without_a_mouse(browser: Browser, pages: Path) -> None:
    tab, _ = _opened(browser, pages / "owner.html", WIDTHS["desktop"], "light")
    tab.keyboard.press("Tab")
    focused = tab.evaluate("document.activeElement.tagName")
    assert focused in {"A", "PRE", "SUMMARY", "DIV"}
    tab.context.close()
