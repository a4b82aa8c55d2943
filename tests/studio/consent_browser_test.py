"""A policy with a query in a real browser: it is shown whole, and runs after a click."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from browsers import Tab, expect
from made_databases import duckdb_file
from running_studio import Running
from support import write_policy

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_a_query_is_shown_before_it_runs_and_another_one_again(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]
) -> None:
    query = "SELECT *\nFROM patients\nWHERE '<b>' <> name"
    address = duckdb_file(tmp_path / "t.duckdb").replace("table=patients", f"query={quote(query)}")
    address = address.replace(f"{tmp_path}/", "")
    policy = write_policy(tmp_path, data={"path": address})
    tab = Tab(browser, studio_in(tmp_path, "policy.yaml"))
    page = tab.page
    tab.go("file")
    asked = page.get_by_role("group", name="To be confirmed")
    expect(asked.locator("pre")).to_have_text(query)
    expect(asked).to_contain_text("by a query of t.duckdb. It has not run yet")
    asked.get_by_role("button", name="Run this query").click()
    expect(page.get_by_text("9 records, 5 columns")).to_be_visible()
    expect(asked).to_have_count(0)
    policy.write_text(policy.read_text().replace(quote("'<b>' <> name"), quote("age < 90")))
    expect(asked.locator("pre")).to_contain_text("age < 90")
    asked.get_by_role("button", name="Run this query").click()
    expect(page.get_by_text("8 records, 5 columns")).to_be_visible()
