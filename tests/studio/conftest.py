"""Studios for the tests, and a browser to open them with: they end with the tests."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kveil.datasets import hospital
from running_studio import Running, start

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def studio_in() -> Iterator[Callable[..., Running]]:
    """Start studios that end with the test."""
    running: list[Running] = []

    def begin(folder: Path, *arguments: str) -> Running:
        running.append(start(folder, *arguments))
        return running[-1]

    yield begin
    for each in running:
        each.stop()


def _hospital_in(folder: Path) -> Path:
    for file in hospital().iterdir():
        if file.is_file():
            shutil.copyfile(file, folder / file.name)
    return folder


def _opened(running: Running) -> Running:
    """Wait until the policy that a studio was started with is there, with its table."""
    running.enter()
    until = time.monotonic() + 120
    while time.monotonic() < until:
        state = running.ask("GET", "state")
        if state["project"] and state["table"]:
            return running
        time.sleep(0.1)
    raise AssertionError("the studio did not open its policy")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with the made-up hospital."""
    return _hospital_in(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a studio that all tests of a module work in, each in a folder of its own."""
    running = start(tmp_path_factory.mktemp("shared"))
    try:
        running.enter()
        yield running
    finally:
        running.stop()


@pytest.fixture
def studio(shared: Running) -> Running:
    """Return the module's studio, which has a hospital of this test's own open; its folder is the hospital's."""
    folder = shared.folder / f"hospital {len(list(shared.folder.iterdir()))}"
    folder.mkdir()
    _hospital_in(folder)
    running = replace(shared, folder=folder)
    assert running.ask("POST", "open", {"path": f"{folder.name}/policy.yaml"})["table"]["error"] is None
    return running


@pytest.fixture
def own_studio(project: Path, studio_in: Callable[..., Running]) -> Running:
    """Return a studio of this test's own, for one that ends it or looks at its process."""
    return _opened(studio_in(project, "policy.yaml"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a browser; only for modules that import `browsers`, which skips them where there is none."""
    from browsers import browser_here

    with browser_here() as opened:
        yield opened


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a studio whose project has a release, for looking at all screens."""
    folder = _hospital_in(tmp_path_factory.mktemp("finished"))
    policy = folder / "policy.yaml"
    policy.write_text(policy.read_text().replace("algorithm: auto", "algorithm: mondrian"))
    running = start(folder, "policy.yaml")
    try:
        _opened(running)
        job = running.job(running.ask("POST", "jobs", {"do": "run"})["number"], 400)
        assert job["state"] == "done", job
        yield running
    finally:
        running.stop()
