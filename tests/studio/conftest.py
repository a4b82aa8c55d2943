"""Studios for the tests: they end with them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kveil.datasets import hospital
from running_studio import Running, start


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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with the made-up hospital."""
    for file in hospital().iterdir():
        if file.is_file():
            shutil.copyfile(file, tmp_path / file.name)
    return tmp_path


@pytest.fixture
def studio(project: Path, studio_in: Callable[..., Running]) -> Running:
    """Return a studio that has the hospital's policy open, as its own page sees it."""
    running = studio_in(project, "policy.yaml")
    running.enter()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        state = running.ask("GET", "state")
        if state["project"] and state["table"]:
            break
        time.sleep(0.1)
    return running
