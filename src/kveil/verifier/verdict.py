"""What a verification found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """The result of checking a release; true if everything that was checked holds.

    ``findings`` are the sentences that make it fail, ``warnings`` those that do not; of these, ``private_warnings``
    are those that only the original tells, which nothing that is published repeats. ``boundaries``, ``truth`` and
    ``unchanged`` are None where there was no original to compare with.
    """

    guarantees: list[dict[str, Any]]
    dependencies: list[dict[str, Any]]
    suppression: dict[str, Any]
    boundaries: dict[str, Any] | None
    truth: dict[str, Any] | None
    unchanged: dict[str, Any] | None
    findings: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    private_warnings: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing was found that breaks the policy."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.holds

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "holds": self.holds,
            "guarantees": self.guarantees,
            "dependencies": self.dependencies,
            "suppression": self.suppression,
            "boundaries": self.boundaries,
            "truth": self.truth,
            "unchanged": self.unchanged,
            "findings": self.findings,
            "warnings": self.warnings,
        }

    def _repr_html_(self) -> str:
        from kveil.notebook import verdict_html

        return verdict_html(self.as_json())
