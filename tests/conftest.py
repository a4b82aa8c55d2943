"""What `make test` says at its end: in one line per reason, how many tests were skipped, and why."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count what was skipped by its reason, so that a reader sees what would make it run."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        _, _, reason = report.longrepr
        reasons[reason.removeprefix("Skipped: ")] += 1
    for reason, number in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {number}: {reason}")
