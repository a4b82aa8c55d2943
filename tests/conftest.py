"""What `make test` says at its end about skipped tests; which tests run a second time without the compiler."""

from __future__ import annotations

from collections import Counter

import pytest

from places import ROOT

TESTS = ROOT / "tests"


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
