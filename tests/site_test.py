"""The documentation site, walked: every page is there and found by search, every link leads somewhere, nothing is
loaded from another address; the repository's files for strangers say what is true."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
import yaml

import kveil
from built_site import build_site
from kveil.version import __version__
from places import ROOT


class Links(HTMLParser):
    """Collects where a page leads to, what it loads, and the places in it that can be led to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.places |= {value for key in ("id", "name") if (value := named.get(key))}
        if tag == "a" and named.get("href"):
            self.leads.append(str(named["href"]))
        elif tag in {"img", "script", "iframe", "source"} and named.get("src"):
            self.loads.append(str(named["src"]))
        elif tag == "link" and named.get("href") and named.get("rel") not in {"canonical", "prev", "next"}:
            self.loads.append(str(named["href"]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return {page: Links(page) for page in sorted(site.rglob("*.html"))}


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Links]) -> None:
    assert len(pages) > 100
    broken = []
    for page, links in pages.items():
        if page.name == "404.html":  # it may stand for any address, and links from the root
            continue
        for link in links.leads:
            address, place = urldefrag(link)
            if "://" in address or address.startswith("mailto:"):
                continue
            target = (page.parent / unquote(address)).resolve() if address else page
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target)
            if not target.exists() or (place and known is not None and unquote(place) not in known.places):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_another_address(site: Path, pages: dict[Path, Links]) -> None:
    outside = {link for links in pages.values() for link in links.loads if "//" in link}
    assert outside == set()
    for sheet in site.rglob("*.css"):
        assert "url(http" not in sheet.read_text(encoding="utf-8")
    absent = [
        link
        for page, links in pages.items()
        for link in links.loads
        if page.name != "404.html" and not (page.parent / unquote(link.split("?")[0])).exists()
    ]
    assert absent == []


def test_every_page_is_there_and_found_by_search(site: Path) -> None:
    sources = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))
    found = {entry["location"].split("#")[0] for entry in index["items"]}
    for source in sources:
        page = source.with_suffix(".html") if source.name != "README.md" else source.with_name("index.html")
        assert (site / page).exists(), page
        assert {page.as_posix(), page.as_posix().removesuffix("index.html")} & found, page


def test_pages_are_light_and_dark_and_show_pictures(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert 'src="pictures/flow.svg"' in text


def test_the_reference_shows_what_python_has(site: Path) -> None:
    text = (site / "reference.html").read_text(encoding="utf-8")
    for name in ("kveil.flow.anonymize.anonymize", "kveil.flow.steps.result.Result", "kveil.errors.Unmeetable"):
        assert f'id="{name}"' in text


def test_headings_of_the_reference_are_what_a_user_types(site: Path) -> None:
    headings = re.findall(r"heading: kveil\.(\w+)", (ROOT / "docs" / "reference.md").read_text(encoding="utf-8"))
    assert len(headings) > 15
    assert all(hasattr(kveil, name) for name in headings)
    text = re.sub(r"<[^>]*>", "", (site / "reference.html").read_text(encoding="utf-8"))
    assert all(f"kveil.{name}" in text for name in headings)
    assert "kveil.flow." not in text


# ---------------------------------------------------------------------------------------------- repository


def test_files_for_strangers_can_be_read() -> None:
    files = [
        *(ROOT / ".github").rglob("*.yml"),
        ROOT / ".pre-commit-config.yaml",
        ROOT / "CITATION.cff",
    ]
    assert len(files) >= 5
    for file in files:
        assert isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict), file
    assert (ROOT / "SECURITY.md").exists()


def test_the_version_is_the_same_everywhere() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == __version__
    assert f"\n## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_workflow_runs_ci_on_every_version() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert {"run": ".ci/run"} in workflow["jobs"]["test"]["steps"]
    assert {"run": "make docs"} in workflow["jobs"]["build"]["steps"]


@pytest.mark.parametrize(
    ("start", "then", "said"),
    [
        (
            "import kveil",
            "kveil.anonymize",
            "ImportError: kveil runs on Linux and macOS; on Windows, install it inside WSL.",
        ),
        (
            "from kveil.cli import main",
            "main()",
            "kveil: kveil runs on Linux and macOS; on Windows, install it inside WSL.",
        ),
    ],
)
def test_windows_is_refused_in_one_sentence(start: str, then: str, said: str) -> None:
    code = f"import sys; sys.argv = ['kveil', '--version']; {start}; sys.platform = 'win32'; {then}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1] == said
    assert said.startswith("ImportError") or done.stderr.count("\n") == 1
