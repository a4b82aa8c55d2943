"""The report: one file, nothing from outside, readable by a screen reader, without an identifier or a record."""

import itertools
import os
import re
import shutil
import stat
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.datasets import hospital
from support import ROWS, columns_of, make_policy, names_in, refused, run, write_policy, write_rows

VOID = {"meta", "br", "hr", "img", "input", "link", "path", "line", "rect"}


class Page(HTMLParser):
    """Collects what an accessibility check looks at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.inside.setdefault(self.open[-1], []).append(data.strip())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.found if name == tag]


def checked(text: str) -> Page:
    """Check that a page stands alone and that a screen reader can read it."""
    assert text.startswith("<!doctype html>")
    assert not re.search(r"https?:|//[a-z]|url\((?!#)|@import|<script|javascript:|\bon\w+=", text)
    page = Page(text)
    assert not page.open
    assert page.all("html")[0]["lang"] == "en"
    assert page.inside["title"]
    assert len(page.all("main")) == 1
    levels = [int(tag[1]) for tag, _ in page.found if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    ids = [attrs["id"] for _, attrs in page.found if attrs.get("id")]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert link["href"] in {f"#{name}" for name in ids}
    for picture in page.all("svg"):
        assert picture["role"] == "img"
        assert picture["aria-label"]
    assert len(page.all("table")) == len(page.all("caption"))
    for head in page.all("th"):
        assert head.get("scope") in {"row", "col"}
    for pre in page.all("pre"):
        assert pre["tabindex"] == "0"
    return page


@pytest.fixture
def result() -> kveil.Result:
    return kveil.anonymize(pl.DataFrame(columns_of()), make_policy(k=4))


def test_the_report_stands_alone_and_names_nobody(result: kveil.Result, tmp_path: Path) -> None:
    result.report(tmp_path / "out.html")
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    checked(text)
    assert "For the owner of the data. Do not publish." in text
    for row in ROWS:
        assert row[0] not in text
    assert stat.S_IMODE(os.stat(tmp_path / "out.html").st_mode) == 0o600
    assert "Finding one person" in text
    assert "k-anonymity" in text


def test_the_public_report_tells_only_what_the_release_tells(result: kveil.Result, tmp_path: Path) -> None:
    result.report(tmp_path / "out.html", public=True)
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    checked(text)
    assert "May be published." in text
    assert "Do not publish" not in text
    for word in ("in the original", "Attacks, before and after", ">95<", "original</"):
        assert word not in text
    owners = tmp_path / "owner.html"
    result.report(owners)
    assert ">95<" in owners.read_text(encoding="utf-8") or "90-99" in owners.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["--public", None])
def test_a_report_comes_with_the_other_files_or_not_at_all(form: str | None, tmp_path: Path) -> None:
    write_policy(tmp_path, k=4, data={"path": "data.csv"})
    write_rows(tmp_path / "data.csv")
    options = ["--report", tmp_path / "r.html", *([form] if form else [])]
    done = run("anonymize", tmp_path / "policy.yaml", "-o", tmp_path / "r.csv", *options)
    assert done.code == 0, done.err
    checked((tmp_path / "r.html").read_text(encoding="utf-8"))
    refused(run("anonymize", tmp_path / "policy.yaml", "-o", tmp_path / "r.csv", "--report", tmp_path / "r.csv"))
    write_policy(tmp_path, k=99, data={"path": "data.csv"})
    before = names_in(tmp_path)
    failed = run("anonymize", tmp_path / "policy.yaml", "-o", tmp_path / "s.csv", "--report", tmp_path / "s.html")
    assert failed.code == 1
    assert names_in(tmp_path) == before


def test_public_needs_a_report(tmp_path: Path) -> None:
    write_policy(tmp_path, data={"path": "data.csv"})
    write_rows(tmp_path / "data.csv")
    refused(run("anonymize", tmp_path / "policy.yaml", "-o", tmp_path / "r.csv", "--public"), "give --report too")


def test_names_and_values_are_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    frame = pl.DataFrame({evil: [evil, evil, "b", "b"], "x": ["&", "<b>", "'", '"']})
    policy = kveil.Policy(
        attributes={evil: {"role": "quasi-identifier"}, "x": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 2}],
        dependencies=[],
        algorithm="datafly",
    )
    kveil.anonymize(frame, policy).report(tmp_path / "out.html")
    checked((tmp_path / "out.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["a\\b", "a\\1", "\\g<0>", "a\\"])
def test_a_backslash_in_a_name_ends_no_report(name: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({name: ["x", "x", "y", "y"], "s": list("abcd")})
    result = kveil.anonymize(frame, make_policy({name: {"role": "quasi-identifier"}, "s": "sensitive"}))
    result.report(tmp_path / "out.html")
    checked((tmp_path / "out.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("table", ["patients", "visits"])
def test_the_hospital_has_a_report(table: str, tmp_path: Path) -> None:
    shutil.copytree(hospital(), tmp_path, dirs_exist_ok=True)
    policy = tmp_path / "policy.yaml"
    if table == "visits":
        assert run("init", tmp_path / "visits.csv", "-o", tmp_path / "p.yaml", "-q").code == 0
        policy = tmp_path / "p.yaml"
    done = run(
        "anonymize", policy, "--algorithm", "classfly+naive", "-o", tmp_path / "r.csv", "--report", tmp_path / "r.html"
    )
    assert done.code == 0, done.err
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    checked(text)
    names = pl.read_csv(tmp_path / f"{table}.csv", infer_schema=False)
    for column in ("name", "patient_id", "phone"):
        for value in names[column].unique().to_list()[:200]:
            assert value not in text


def test_a_comparison_has_a_page(tmp_path: Path) -> None:
    write_policy(tmp_path, data={"path": "data.csv"})
    write_rows(tmp_path / "data.csv")
    names = "datafly,mondrian"
    done = run("compare", tmp_path / "policy.yaml", "--algorithms", names, "--report", tmp_path / "c.html", "--quiet")
    assert done.code == 0, done.err
    page = checked((tmp_path / "c.html").read_text(encoding="utf-8"))
    assert len(page.all("svg")) == 4  # loss, counts, left out, time


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here to look at the page with: install one")
def test_a_browser_draws_it_and_prints_it(result: kveil.Result, tmp_path: Path) -> None:
    result.report(tmp_path / "out.html")
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    (tmp_path / "bare.html").write_text(re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL), encoding="utf-8")

    def shown(name: str, option: str, file: str) -> bytes:
        command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'u'}"]
        where = [f"--{option}={tmp_path / file}", "--window-size=800,6000", (tmp_path / name).as_uri()]
        subprocess.run([*command, *where], check=True, timeout=120, capture_output=True)
        return (tmp_path / file).read_bytes()

    drawn, again, bare = (shown(name, "screenshot", "s.png") for name in ("out.html", "out.html", "bare.html"))
    assert drawn == again != bare  # the pictures are what differs
    printed, without = (shown(name, "print-to-pdf", "s.pdf") for name in ("out.html", "bare.html"))
    assert len(printed) > len(without) + 2_000  # and they are printed, too
