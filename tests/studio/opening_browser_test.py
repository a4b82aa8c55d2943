"""Tables of other forms in a real browser: Latin letters, semicolons and commas; databases; folders of files."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from browsers import Tab, expect
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

GERMAN = "Name;Größe;Ort;Diagnose\n" + "".join(
    f"Jörg {i};{150 + i % 45},{i % 10};{('München', 'Köln')[i % 2]};{('Grippe', 'Gicht', 'Rückenweh')[i % 3]}\n"
    for i in range(90)
)


def test_a_german_table_goes_all_the_way(tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]) -> None:
    raw = GERMAN.encode("cp1252")
    tab = Tab(browser, studio_in(tmp_path))
    page = tab.page
    page.set_input_files("input[type=file]", {"name": "Größen.csv", "mimeType": "text/csv", "buffer": raw})
    expect(page.get_by_text("is not in UTF-8")).to_be_visible()
    expect(page.get_by_label("Encoding")).to_have_value("cp1252")
    page.get_by_role("button", name="Open it", exact=True).first.click()
    page.wait_for_selector("table.columns")
    folder = tmp_path / "Größen"
    tab.running.folder = folder  # where the dropped table lies, with its policy
    tab.saved("encoding: cp1252")
    page.get_by_role("button", name="Ort", exact=True).click()
    expect(page.get_by_role("row", name="München 45", exact=True)).to_be_visible()
    tab.go("steps", "Gr%C3%B6%C3%9Fe")
    expect(page.locator("svg.chart").first).to_have_attribute(
        "aria-label", re.compile("^90 records between 150 and 194.9")
    )
    expect(page.locator("[role=tree]")).to_be_visible()
    expect(page.get_by_text("Not in the tree")).to_have_count(0)
    tab.go("check")
    expect(page.get_by_text("Nothing is impossible")).to_be_visible()
    tab.go("run")
    page.get_by_label("Method", exact=True).select_option("mondrian")
    tab.saved("algorithm: mondrian")
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("button", name="See the result").click()
    page.get_by_role("button", name="Show eight records before and after").click()
    expect(page.get_by_label("Before and after").locator("tbody tr").first).to_contain_text(re.compile(r"1\d\d,\d"))
    (release,) = (folder / "releases").glob("*/release.csv")
    assert "München" in release.read_text(encoding="utf-8")
    shown = page.locator("aside .command code").inner_text().split()
    subprocess.run([sys.executable, "-m", *shown], cwd=folder, check=True, capture_output=True)
    assert (folder / shown[-1]).read_bytes() == release.read_bytes()
    tab.close()


def test_databases_and_folders_of_files_are_opened_by_clicks(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]
) -> None:
    table = pl.DataFrame({"age": [20 + i % 9 for i in range(40)], "ill": [("flu", "gout")[i % 2] for i in range(40)]})
    with sqlite3.connect(tmp_path / "clinic.sqlite") as connection:
        connection.execute("CREATE TABLE visits (age INTEGER, ill TEXT)")
        connection.executemany("INSERT INTO visits VALUES (?, ?)", table.rows())
    connection.close()
    (tmp_path / "parts").mkdir()
    table[:10].write_parquet(tmp_path / "parts" / "a.parquet")
    table[10:].write_parquet(tmp_path / "parts" / "b.parquet")
    tab = Tab(browser, studio_in(tmp_path))
    page = tab.page
    page.get_by_role("button", name="clinic.sqlite").click()
    page.get_by_label("Tables of clinic.sqlite").get_by_role("button", name="visits").click()
    page.wait_for_selector("table.columns")
    tab.saved("sqlite:///clinic.sqlite?table=visits")
    tab.go("file")
    expect(page.get_by_text("40 records, 2 columns")).to_be_visible()
    page.get_by_role("button", name="parts").click()
    page.get_by_role("button", name="All Parquet files of this folder as one table 2 files").click()
    page.wait_for_selector("table.columns")
    assert "path: parts" in (tmp_path / "policy-2.yaml").read_text()
    tab.go("file")
    expect(page.get_by_text("40 records, 2 columns")).to_be_visible()
    page.get_by_text("A server's table, or a pattern of files").click()
    page.get_by_label("Address or pattern").fill("postgresql://ann:Geheim9@localhost/clinic?table=visits")
    page.get_by_role("button", name="Open it").click()
    expect(page.get_by_role("alert")).to_contain_text("a password does not belong into an address")
    page.get_by_label("Address or pattern").fill("parts/*.parquet")
    page.get_by_role("button", name="Open it").click()
    page.wait_for_selector("table.columns")
    assert "parts/*.parquet" in (tmp_path / "policy-3.yaml").read_text()
    tab.close()
