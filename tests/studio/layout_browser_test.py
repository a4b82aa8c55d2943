"""Workbooks of several sheets, and tables below a title, in a real browser: what is chosen stands in the policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import xlsxwriter

from browsers import Tab, expect, picture
from running_studio import Running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROWS = [[20 + i % 9, "mf"[i % 2], ("flu", "gout", "cold")[i % 3]] for i in range(60)]


def _workbook(path: Path) -> None:
    """Write a workbook: remarks on the first sheet, a table below a title on the second, a plain one on the third."""
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Remarks").write_row(0, 0, ["About this survey"])
        second, third = book.add_worksheet("Women"), book.add_worksheet("Men")
        second.write_row(0, 0, ["Survey of women"])
        second.write_row(1, 0, ["first wave"])
        for place, row in enumerate([["age", "sex", "ill"], *ROWS]):
            second.write_row(place + 2, 0, row)
        for place, row in enumerate([["age", "town"], *[[age, ill] for age, _, ill in ROWS[:40]]]):
            third.write_row(place, 0, row)


def test_a_sheet_and_the_lines_above_its_names_are_chosen_on_the_page(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running]
) -> None:
    _workbook(tmp_path / "survey.xlsx")
    tab = Tab(browser, studio_in(tmp_path))
    page = tab.page
    page.get_by_role("button", name="survey.xlsx").click()
    form = page.get_by_role("form", name="Where the table stands")  # the first sheet holds no records
    form.get_by_label("Sheet", exact=True).select_option("Men")
    form.get_by_role("button", name="Open it").click()
    page.wait_for_selector("table.columns")
    tab.saved("sheet: Men")
    tab.go("file")
    expect(page.get_by_text("40 records, 2 columns")).to_be_visible()
    page.get_by_label("Sheet", exact=True).select_option("Women")
    tab.saved("sheet: Women")
    expect(page.locator("main .notice.bad")).to_contain_text("Women")
    above = page.get_by_label("Lines above the names of columns")
    above.fill("2")
    above.press("Enter")
    tab.saved("skip: 2")
    expect(page.get_by_text("60 records, 3 columns")).to_be_visible()
    expect(page.locator("main .notice.bad")).to_have_count(0)
    where = picture("sheet.png")
    if where is not None:
        page.screenshot(path=where)
    page.get_by_label("Lines above the names of columns").fill("0")
    page.get_by_label("Lines above the names of columns").press("Enter")
    tab.saved("skip", gone=True)
    tab.close()


@pytest.mark.parametrize("name", ["survey.xlsx", "survey.csv"])
def test_a_dropped_table_below_a_title_asks_where_its_names_stand(
    tmp_path: Path, browser: Browser, studio_in: Callable[..., Running], name: str
) -> None:
    with xlsxwriter.Workbook(tmp_path / "made.xlsx") as book:
        sheet = book.add_worksheet()
        for place, row in enumerate([["Survey of this year"], [], ["age", "sex", "ill"], *ROWS]):
            sheet.write_row(place, 0, row)
    lines = "".join(f"{age},{sex},{ill}\n" for age, sex, ill in ROWS)
    raw = {
        "survey.csv": f"Survey of this year\n\nage,sex,ill\n{lines}".encode(),
        "survey.xlsx": (tmp_path / "made.xlsx").read_bytes(),
    }[name]
    (tmp_path / "made.xlsx").unlink()
    tab = Tab(browser, studio_in(tmp_path))
    page = tab.page
    page.set_input_files("input[type=file]", {"name": name, "mimeType": "text/csv", "buffer": raw})
    form = page.get_by_role("form", name="Where the table stands")
    expect(form).to_contain_text("cannot be read as it is")
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == []
    where = picture(f"title-{name}.png")
    if where is not None:
        page.screenshot(path=where)
    form.get_by_label("Lines above the names").fill("2")
    form.get_by_role("button", name="Open it").click()
    page.wait_for_selector("table.columns")
    tab.running.folder = tmp_path / "survey"
    tab.saved("skip: 2")
    tab.go("file")
    expect(page.get_by_text("60 records, 3 columns")).to_be_visible()
    assert [path.name for path in tmp_path.iterdir()] == ["survey"]
    tab.close()
