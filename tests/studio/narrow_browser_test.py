"""Long names on a narrow screen, in a real browser: nothing can be pushed sideways, and nothing leaves its card."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsers import Tab, picture
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LONG = "respondents_highest_level_of_education_ES_ISCED_recoded_2026"
OUTSIDE = """() => [...document.querySelectorAll("main .card *, main .notice *")].filter((e) => {
  if (e.closest(".scroll, .tree, svg, iframe, .sr, .command")) return false;
  const [inner, outer] = [e.getBoundingClientRect(), e.closest(".card, .notice").getBoundingClientRect()];
  return inner.width > 0 && inner.right > outer.right + 1;
}).map((e) => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("width", [375, 1280])
def test_long_names_stay_inside_their_cards(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running], width: int
) -> None:
    names = [f"{LONG}_{i}" for i in range(4)]
    rows = "".join(f"{i % 7},{i % 5},{i % 3},{i % 2}\n" for i in range(90))
    (tmp_path / f"{LONG}.csv").write_text(",".join(names) + "\n" + rows)
    roles = "".join(f"  {name}: {{role: quasi-identifier}}\n" for name in names[:3])
    (tmp_path / f"{LONG}.yaml").write_text(
        f"kveil: 1\ndata: {{path: {LONG}.csv}}\nattributes:\n{roles}  {names[3]}: {{role: sensitive}}\n"
        f"privacy:\n  - {{model: k-anonymity, k: 3}}\n  - {{model: l-diversity, sensitive: {names[3]}, l: 3}}\n"
    )
    running = studio_in(tmp_path)
    running.enter()
    running.ask("POST", "open", {"path": f"{LONG}.yaml"})
    assert running.job(running.ask("POST", "jobs", {"do": "risk"})["number"])["state"] == "done"
    assert running.job(running.ask("POST", "jobs", {"do": "run"})["number"])["state"] != "done"
    tab = Tab(browser, running, viewport={"width": width, "height": 900})
    for screen in ("check", "run", "promises", "file", "columns"):
        tab.go(screen)
        tab.page.wait_for_timeout(400)
        where = picture(f"long-{screen}-{width}.png")
        if where is not None:
            tab.page.screenshot(full_page=True, path=where)
        wide = tab.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, screen
        assert tab.page.evaluate(OUTSIDE) == [], screen
    tab.close()
