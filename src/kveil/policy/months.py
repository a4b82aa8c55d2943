"""Dates as people write them, read as years and months: `2016/04/02 11:12:20`, `2.4.2016`, `2016-04-02`."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass

_TIME = r"(?:[T ]\s*\d{1,2}:\d{2}.*)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}", re.ASCII | re.DOTALL)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}", re.ASCII | re.DOTALL)


@dataclass(frozen=True)
class Months:
    """The year and the month of every text that is a date; ``known`` says whether days and months can be told apart."""

    of: dict[str, tuple[int, int]]
    known: bool


def read_months(texts: Iterable[str]) -> Months:
    """Return years and months of those texts that are dates.

    Where the year stands last, the day may come before the month or after it: what all of them allow. Where they allow
    both, or neither, years alone are known, and every month is given as January.
    """
    first: dict[str, tuple[int, int]] = {}
    last: dict[str, tuple[int, int, int]] = {}
    for text in texts:
        if found := _YEAR_FIRST.fullmatch(text):
            year, month, day = int(found[1]), int(found[3]), int(found[4])
            if _is_date(year, month, day):
                first[text] = year, month
        elif found := _YEAR_LAST.fullmatch(text):
            one, other, year = int(found[1]), int(found[3]), int(found[4])
            if _is_date(year, one, other) or _is_date(year, other, one):
                last[text] = one, other, year
    day_first = all(_is_date(year, other, one) for one, other, year in last.values())
    month_first = all(_is_date(year, one, other) for one, other, year in last.values())
    known = not last or day_first != month_first
    if not known:
        return Months({text: (year, 1) for text, (year, *_) in (*first.items(), *_years(last))}, known=False)
    of = {text: (year, other if day_first else one) for text, (one, other, year) in last.items()}
    return Months(first | of, known=True)


def _years(last: dict[str, tuple[int, int, int]]) -> list[tuple[str, tuple[int, int]]]:
    return [(text, (year, 1)) for text, (_, _, year) in last.items()]


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(year, month, day)
    except ValueError:
        return False
    return True
