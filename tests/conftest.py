"""What `make test` says at its end about skipped tests; which tests run a second time without the compiler."""

from __future__ import annotations

import faulthandler
from collections import Counter
from collections.abc import Iterator

import pytest

from places import ROOT

TESTS = ROOT / "tests"
HARD_LIMIT = 900  # seconds


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count what was skipped by its reason, so that a reader sees what would make it run."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        _, _, reason = report.longrepr
        reasons[reason.removeprefix("Skipped: ")] += 1
    for reason, number in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {number}: {reason}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the kernels' own tests: they are small, and loops that are never interpreted are never covered."""
    for item in items:
        if "kernels" in item.path.parent.relative_to(TESTS).parts:
            item.add_marker("uncompiled")


@pytest.fixture
def _ends_in_time() -> Iterator[None]:
    """End the whole process, with its traceback, where a test does not: a compiled loop hears no signal."""
    faulthandler.dump_traceback_later(HARD_LIMIT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
