"""What a verification found."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import NotRequired, TypedDict

from kveil.guarantee import EarlierGuarantee, Guarantee


class DependencyCheck(TypedDict):
    """A declared rule, whether it holds, and how many left sides break it."""

    rule: str
    holds: bool
    broken: int


class SuppressionCheck(TypedDict):
    """How many rows count as suppressed, of how many, and how many show `*` in at least one component."""

    records: int
    starred: int
    of: int
    limit: float
    holds: bool


class Violations(TypedDict):
    """How many cells break a rule."""

    violations: int


class PossibleValues(TypedDict):
    """For how many people one value of a sensitive attribute remains possible, for how many of them it is right.

    ``changed`` are those whose value is not the same in all releases that show them.
    """

    sensitive: str
    one: int
    right: int
    changed: int


class TogetherCheck(TypedDict):
    """What several releases show together: of how many people, who came and who left, and each model on classes.

    ``promised`` are the models that only earlier releases promised, which need not hold where the newest may be
    ``weaker``; ``below`` is how many people get less than one of these promised them, ``unjudged`` which promises
    cannot be held against several releases.
    """

    releases: int
    people: int
    newcomers: int
    leavers: int
    guarantees: list[Guarantee]
    promised: list[EarlierGuarantee]
    weaker: bool
    below: int
    unjudged: list[str]
    possible: list[PossibleValues]


class EarlierFigures(TypedDict):
    """What was counted over earlier releases, where some were given."""

    previous: NotRequired[TogetherCheck]


class VerdictFigures(EarlierFigures):
    """A verdict as plain data."""

    holds: bool
    guarantees: list[Guarantee]
    dependencies: list[DependencyCheck]
    suppression: SuppressionCheck
    boundaries: Violations | None
    truth: Violations | None
    unchanged: Violations | None
    findings: list[str]
    warnings: list[str]


@dataclass(frozen=True)
class Verdict:
    """The result of checking a release; true if everything that was checked holds.

    ``findings`` are the sentences that make it fail, ``warnings`` those that do not; of these, ``private_warnings``
    are those that only the original tells, which nothing that is published repeats. ``boundaries``, ``truth`` and
    ``unchanged`` are None where there was no original to compare with, ``previous`` where no earlier release was given.
    """

    guarantees: list[Guarantee]
    dependencies: list[DependencyCheck]
    suppression: SuppressionCheck
    boundaries: Violations | None
    truth: Violations | None
    unchanged: Violations | None
    _: KW_ONLY
    findings: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    private_warnings: list[str] = field(default_factory=list)
    previous: TogetherCheck | None = None

    def with_previous(self, check: TogetherCheck, findings: list[str], private_warnings: list[str]) -> Verdict:
        """Return the verdict with what was counted and found over earlier releases and this one together.

        That promises of earlier releases are broken is for the owner: it says for whom somebody should look.
        """
        return replace(
            self,
            previous=check,
            findings=[*self.findings, *findings],
            warnings=[*self.warnings, *private_warnings],
            private_warnings=[*self.private_warnings, *private_warnings],
        )

    def with_findings(self, findings: list[str]) -> Verdict:
        """Return the verdict with more that breaks the policy."""
        return replace(self, findings=[*self.findings, *findings]) if findings else self

    @property
    def holds(self) -> bool:
        """Whether nothing was found that breaks the policy."""
        return not self.findings

    def __bool__(self) -> bool:
        return self.holds

    def as_json(self) -> VerdictFigures:
        """Return the verdict as plain data."""
        previous: EarlierFigures = {} if self.previous is None else {"previous": self.previous}
        return {
            "holds": self.holds,
            "guarantees": self.guarantees,
            "dependencies": self.dependencies,
            "suppression": self.suppression,
            "boundaries": self.boundaries,
            "truth": self.truth,
            "unchanged": self.unchanged,
            **previous,
            "findings": self.findings,
            "warnings": self.warnings,
        }

    def _repr_html_(self) -> str:
        from kveil.notebook import verdict_html

        rules = {check["rule"]: check["holds"] for check in self.dependencies}
        return verdict_html(self.guarantees, rules, self.findings, self.warnings)
