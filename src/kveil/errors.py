"""The errors of kveil, all of them.

    KveilError            anything kveil refuses or cannot do; one sentence that ends with what to do
    ├── PolicyError       the policy says something that cannot be meant            (exit 2)
    │   └── Refused       an algorithm does not honour a part of the policy         (exit 2)
    ├── DataError         the table does not fit the policy, or cannot be read      (exit 2)
    │   └── FileError     a file cannot be read or written                          (exit 2)
    ├── Unmeetable        the policy is sound, the table readable, the answer is no (exit 1)
    └── NotVerified       the independent check refused a release kveil made        (exit 1)

No message may hold a value of an identifier or individual column, and none repeats the text of a library's
error: those texts quote data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class KveilError(Exception):
    """The root of all errors of kveil."""

    exit_code = 2


class PolicyError(KveilError):
    """A policy that is malformed or contradicts itself."""


class Refused(PolicyError):
    """A policy that asks for more than the chosen algorithm, or anything here, honours."""


class DataError(KveilError):
    """A table that does not fit its policy."""


class FileError(DataError):
    """A file that cannot be read or written."""


class Unmeetable(KveilError):
    """A policy that this table cannot meet within the suppression limit.

    ``lost`` is how many records, or individuals, would have to be suppressed, where that is known.
    """

    exit_code = 1

    def __init__(self, message: str, lost: int | None = None) -> None:
        super().__init__(message)
        self.lost = lost


class NotVerified(KveilError):
    """A release of kveil's own making that its verifier refused: a defect of kveil, and nothing was written."""

    exit_code = 1


def did_you_mean(found: str, allowed: Iterable[str]) -> str:
    """Return a hint that names the allowed text nearest to what was found, or nothing.

    Case is ignored in the comparison, so that ``K-Anonymity`` finds ``k-anonymity``.
    """
    by_lower = {text.lower(): text for text in allowed}
    close = get_close_matches(found.lower(), by_lower, n=1, cutoff=0.6)
    if not close and len(found) > 2:
        close = [text for text in by_lower if text.startswith(found.lower())][:1]
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def listing(items: Sequence[str], limit: int = 8, last: str = "and") -> str:
    """Return items as an English list, cut after ``limit`` of them."""
    if len(items) > limit:
        return ", ".join(items[:limit]) + f" {last} {len(items) - limit} more"
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + f" {last} {items[-1]}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun in the right form: ``1 record``, ``2,000 records``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
