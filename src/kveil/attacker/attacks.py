"""What the attacks came to: a class per kind of attack, each with its success before and after the release."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NotRequired, TypedDict, cast

from kveil.attacker.rate import Rate, RateFigures


class RowMatches(TypedDict):
    """Of an attacker's rows, how many no row of a table fits, and how many exactly one fits."""

    none: int
    one: int


class Matches(TypedDict):
    """The matches of an attacker's rows in the original and in the release."""

    before: RowMatches
    after: RowMatches


class AttackFigures(TypedDict):
    """An attack as plain data, without a value of the tables; what only some kinds have is left out by the others."""

    attack: str
    title: str
    attributes: list[str]
    knowing: str
    sentence: str
    before: NotRequired[RateFigures | None]
    after: NotRequired[RateFigures | None]
    promised: NotRequired[bool]
    rules: NotRequired[list[str]]
    without: NotRequired[RateFigures]
    sensitive: NotRequired[str]
    guess: NotRequired[float]
    items: NotRequired[int | None]
    differing: NotRequired[int]
    left_out: NotRequired[int]
    worlds: NotRequired[int]
    left: NotRequired[int]
    releases: NotRequired[int]
    one: NotRequired[RateFigures]
    rows: NotRequired[int]
    matched: NotRequired[Matches]
    judged_by: NotRequired[list[str] | None]
    drawn: NotRequired[int | None]


class GameFigures(TypedDict):
    """Everything that was played on a release, as plain data."""

    assumption: str
    counts: str
    original: int
    released: int
    attacks: list[AttackFigures]


def _plain(value: Any) -> Any:
    if isinstance(value, Rate):
        return value.as_json()
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One attack: its kind, the attributes of a person that the attacker knows, and both in words."""

    attack: str
    attributes: tuple[str, ...]
    title: str = ""
    knowing: str = ""
    sentence: str = ""

    def as_json(self) -> AttackFigures:
        """Return the attack as plain data without a value of the tables."""
        plain = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return cast(AttackFigures, plain)  # each kind has those of the names that are its own


@dataclass(frozen=True, kw_only=True)
class RatedAttack(Attack):
    """An attack that is judged by the truth: its rates of success in the original and in the release."""

    before: Rate
    after: Rate


@dataclass(frozen=True, kw_only=True)
class Linking(RatedAttack):
    """Somebody links people to rows; ``promised`` tells whether a model of the policy covers what they know."""

    promised: bool


@dataclass(frozen=True, kw_only=True)
class LinkingByRules(Linking):
    """Linking with declared dependencies at hand; ``without`` is the success without them."""

    rules: tuple[str, ...]
    without: Rate


@dataclass(frozen=True, kw_only=True)
class Disclosure(RatedAttack):
    """Somebody tells a sensitive value; ``guess`` is the share of the most frequent one, the success without rows."""

    sensitive: str
    guess: float


@dataclass(frozen=True, kw_only=True)
class Recognition(RatedAttack):
    """Somebody who knows ``items`` of what a person has, all of it where that is None, recognizes the person by it."""

    sensitive: str
    items: int | None


@dataclass(frozen=True, kw_only=True)
class Inconsistency(RatedAttack):
    """Somebody puts rows of one person together; ``differing`` persons show different values in theirs."""

    differing: int


@dataclass(frozen=True, kw_only=True)
class MissingPeople(RatedAttack):
    """Somebody guesses what people have whom no row fits; ``left_out`` are all who are, the targets those who show."""

    sensitive: str
    left_out: int


@dataclass(frozen=True, kw_only=True)
class Rerun(RatedAttack):
    """Somebody reruns kveil on the ``worlds`` that a release leaves possible, and keeps those ``left`` that give it.

    Rates are the confidence in the true value: in the original, in the release ``without`` running anything, and after.
    """

    sensitive: str
    worlds: int
    left: int
    without: Rate


@dataclass(frozen=True, kw_only=True)
class SeveralReleases(RatedAttack):
    """Somebody lays so many ``releases`` side by side; ``one`` is the success with the newest alone."""

    sensitive: str
    releases: int
    one: Rate


@dataclass(frozen=True, kw_only=True)
class FileJoin(Attack):
    """An attacker's own file joined with both tables; rates where the file shares an identifier with the original.

    ``matched`` counts, before and after, the file's rows that no row fits and that exactly one fits. ``drawn`` is how
    many of its rows were looked at where they were too many.
    """

    rows: int
    matched: Matches
    judged_by: tuple[str, ...] | None
    before: Rate | None
    after: Rate | None
    drawn: int | None = None

    def as_json(self) -> AttackFigures:
        """Return the attack as plain data; how many rows were drawn only where not all were looked at."""
        content = super().as_json()
        if self.drawn is None:
            del content["drawn"]
        return content


@dataclass(frozen=True)
class Attacks:
    """Everything that was played on a release: over ``original`` records or persons, ``released`` of them shown."""

    assumption: str
    counts: str
    original: int
    released: int
    attacks: tuple[Attack, ...]

    def as_json(self) -> GameFigures:
        """Return the whole game as plain data without a value of the tables."""
        return {
            "assumption": self.assumption,
            "counts": self.counts,
            "original": self.original,
            "released": self.released,
            "attacks": [attack.as_json() for attack in self.attacks],
        }
