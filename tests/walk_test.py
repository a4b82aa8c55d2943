"""The newcomer's walk of docs/flow.md: the functions it names exist, are called, in that order, and once.

Each walk is run on the made-up hospital in this process, with Python's own profiler listening. Work that is handed to
other threads is not seen, and none of it is in the walks.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from kveil.datasets import hospital
from places import ROOT
from support import run

SOURCE = ROOT / "src" / "kveil"
GENERATOR = 0x20  # what a code object's flags say of a generator: the profiler sees each of its steps as a call

RULES = """
kveil: 1
data: {path: patients.csv}
attributes:
  patient_id: {role: identifier}
  name: {role: identifier}
  birth: {role: quasi-identifier, hierarchy: {dates: [month, year, decade]}}
  sex: {role: quasi-identifier}
  zip: {role: quasi-identifier, hierarchy: zip.csv}
  city: {role: quasi-identifier, hierarchy: city.csv}
  state: {role: identifier}
  weight: {role: identifier}
  department: {role: quasi-identifier, hierarchy: department.csv}
  phone: {role: identifier}
  diagnosis: {role: sensitive}
  insurance: {role: insensitive}
privacy:
  - {model: k-anonymity, attributes: [birth, sex, zip], k: 5}
  - {model: k-anonymity, attributes: [zip, city, department], k: 3}
dependencies: ["zip -> city"]
algorithm: classfly+complete
"""
PEOPLE = """
kveil: 1
data: {path: visits.csv}
attributes:
  patient_id: {role: individual}
  name: {role: identifier}
  birth: {role: quasi-identifier, hierarchy: {dates: [month, year, decade]}}
  sex: {role: quasi-identifier}
  zip: {role: quasi-identifier, hierarchy: zip.csv}
  city: {role: identifier}
  state: {role: identifier}
  weight: {role: identifier}
  visit_date: {role: identifier}
  department: {role: identifier}
  phone: {role: identifier}
  diagnosis: {role: sensitive, hierarchy: diagnosis.csv}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: kl-diversity, sensitive: diagnosis, k: 5, l: 3}
suppression: {limit: 0.05}
algorithm: {name: least-loss, refine: 0.05}
"""
RELEASE = "release.csv"
ANONYMIZE = ("anonymize", "rules.yaml", "-o", RELEASE, "--receipt", "receipt.json", "--owner", "owner.json")
WALKS: dict[str, tuple[str, ...]] = {
    "anonymize": ANONYMIZE,
    "people": ("anonymize", "people.yaml", "-o", RELEASE),
    "verify": (
        "verify",
        "rules.yaml",
        "--release",
        "release.csv",
        "--original",
        "patients.csv",
        "--owner",
        "owner.json",
    ),
    "init": ("init", "patients.csv", "-o", "started.yaml"),
}


@dataclass(frozen=True)
class Hop:
    """One line of a walk: where, what, and whether it happens for each of something."""

    file: str
    function: str
    repeats: bool


@dataclass
class Listener:
    """What the profiler heard: when each function of the source was first called, and how often."""

    first: dict[tuple[str, str], int] = field(default_factory=dict)
    calls: dict[tuple[str, str], int] = field(default_factory=dict)
    generators: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(SOURCE)):
            return
        name = Path(code.co_filename).relative_to(SOURCE).as_posix(), code.co_qualname
        self.first.setdefault(name, len(self.first))
        self.calls[name] = self.calls.get(name, 0) + 1
        if code.co_flags & GENERATOR:
            self.generators.add(name)


def hops(walk: str) -> list[Hop]:
    page = (ROOT / "docs" / "flow.md").read_text(encoding="utf-8")
    part = page.partition(f"<!-- walk: {walk} -->")[2].partition(f"<!-- end of {walk} -->")[0]
    lines = [line for line in part.splitlines() if line.strip()]
    found = []
    for number, line in enumerate(lines, 1):
        read = re.fullmatch(rf"{number}\. `([\w/]+\.py)`: `([\w.]+)` (.+)\.", line)
        assert read is not None, f"{walk}, hop {number} is not `file`: `function` and a sentence: {line}"
        assert ". " not in read[3], f"{walk}, hop {number} is more than one sentence"
        found.append(Hop(read[1], read[2], ", for each" in read[3]))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(hospital(), tmp_path, dirs_exist_ok=True)
    (tmp_path / "rules.yaml").write_text(RULES, encoding="utf-8")
    (tmp_path / "people.yaml").write_text(PEOPLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listened(*arguments: str) -> Listener:
    listener = Listener()
    before = sys.getprofile()
    sys.setprofile(listener)
    try:
        done = run(*arguments)
    finally:
        sys.setprofile(before)
    assert done.code == 0, done.err
    return listener


def test_every_walk_of_the_page_is_run() -> None:
    page = (ROOT / "docs" / "flow.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- walk: (\w+) -->", page) == list(WALKS)


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_is_what_happens(walk: str, folder: Path) -> None:
    if walk == "verify":
        assert run(*ANONYMIZE, "--quiet").code == 0
    heard = listened(*WALKS[walk])
    named = [(hop.file, hop.function) for hop in hops(walk)]
    assert len(named) >= 10
    assert len(set(named)) == len(named), "a walk visits no step twice"
    assert [name for name in named if name not in heard.first] == []
    assert sorted(named, key=lambda name: heard.first[name]) == named
    once = [(hop.file, hop.function) for hop in hops(walk) if not hop.repeats]
    again = {name: heard.calls[name] for name in once if name not in heard.generators and heard.calls[name] > 1}
    assert again == {}
