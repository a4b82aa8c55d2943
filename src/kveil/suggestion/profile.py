"""What a column looks like: counts and shares of forms, nothing that depends on its name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import polars as pl

from kveil.policy.numbers import is_whole, parse_number

# Texts that mean missing wherever they occur; `None`, `unknown` and the like may be values and stay values.
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", ".", "-", "--")

_FORMS = {
    "email": r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}",
    "url": r"(https?://|www\.)\S+",
    "uuid": r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    "ip": r"(\d{1,3}\.){3}\d{1,3}",
    "phone": r"\+?[\d(][\d\s().-]{5,}\d",
    "date": r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?",
    "day_first": r"\d{1,2}[./-]\d{1,2}[./-]\d{4}([T ]\s*\d{1,2}:\d{2}.*)?",
    "year_first": r"\d{4}[./-]\d{1,2}[./-]\d{1,2}([T ]\s*\d{1,2}:\d{2}.*)?",
    "month": r"\d{4}-(0[1-9]|1[0-2])",
    "year": r"(1[89]|20)\d{2}",
    "digits": r"\d+",
    "fraction": r"[+-]?(0|[1-9]\d{0,2})\.\d+",
    "icd10": r"[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?",
    "icd9": r"\d{1,3}(\.\d{1,2})?|[EV]\d{2,3}(\.\d{1,2})?",
}


@dataclass(frozen=True)
class Profile:
    """One column: its distinct texts with how often each occurs, most frequent first, missing apart."""

    name: str
    rows: int
    counts: list[tuple[str, int]]
    missing: int

    @property
    def distinct(self) -> int:
        """How many different texts there are."""
        return len(self.counts)

    @property
    def known(self) -> int:
        """How many records have a value."""
        return self.rows - self.missing

    @property
    def texts(self) -> list[str]:
        """The distinct texts, most frequent first."""
        return [text for text, _ in self.counts]

    @property
    def uniqueness(self) -> float:
        """Different texts for each record that has one."""
        return self.distinct / self.known if self.known else 0.0

    @cached_property
    def some(self) -> list[str]:
        """At most 2,000 of the texts, evenly taken, enough to tell a form by."""
        step = max(self.distinct // 2000, 1)
        return self.texts[::step]

    def share(self, form: str) -> float:
        """Return how many of the distinct texts have a form."""
        if not self.some:
            return 0.0
        pattern = re.compile(_FORMS[form], re.ASCII)
        return sum(pattern.fullmatch(text) is not None for text in self.some) / len(self.some)

    @cached_property
    def numbers(self) -> list[Decimal] | None:
        """The distinct numbers in order, None where some text is none."""
        if not self.counts:
            return None
        found = []
        for text in self.texts:
            number = parse_number(text)
            if number is None or len(text) > 30:
                return None
            found.append(number)
        return sorted(set(found))

    @property
    def whole(self) -> bool:
        """Whether all are numbers without a fraction."""
        return self.numbers is not None and all(is_whole(number) for number in self.numbers)

    @cached_property
    def length(self) -> float:
        """The mean length of the distinct texts."""
        return sum(map(len, self.some)) / len(self.some) if self.some else 0.0

    @cached_property
    def words(self) -> float:
        """The mean number of words in the distinct texts."""
        return sum(len(text.split()) for text in self.some) / len(self.some) if self.some else 0.0


def usual_k(people: int) -> int:
    """Return the k that is suggested for so many people."""
    if people < 2:
        return 1
    if people < 50:
        return 2
    if people < 500:
        return 3
    return 5 if people < 20_000 else 10


def count_texts(texts: pl.Series) -> pl.DataFrame:
    """Return the distinct texts of a column, null among them, with how often each occurs."""
    return texts.alias("text").value_counts(sort=False, name="len")


def profile(name: str, texts: pl.Series, missing: frozenset[str]) -> Profile:
    """Return a column's profile; texts that mean missing are counted apart."""
    return profile_of(name, count_texts(texts), missing)


def profile_of(name: str, counted: pl.DataFrame, missing: frozenset[str]) -> Profile:
    """Return the same of a column whose texts have been counted."""
    pairs = [(text, count) for text, count in counted.iter_rows() if text is not None and text not in missing]
    pairs.sort(key=lambda pair: (-pair[1], pair[0]))
    rows, known = int(counted["len"].sum()), sum(count for _, count in pairs)
    return Profile(name, rows, pairs, rows - known)


def missing_in(columns: Iterable[pl.DataFrame]) -> list[str]:
    """Return the texts that mean missing and occur, the most frequent first; the empty text if there are none.

    Of every column its texts are given, counted.
    """
    seen: dict[str, int] = {}
    for counted in columns:
        text = pl.col("text")
        marks = text.is_null() | text.str.strip_chars().is_in(MISSING)  # files with blanks after separators have " ?"
        for mark, number in counted.filter(marks).iter_rows():
            seen[mark or ""] = seen.get(mark or "", 0) + number
    return sorted(seen, key=lambda text: (-seen[text], text)) or [""]
