"""A reader of labels who knows nothing but their words, and the orders in which readers put texts."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal

ORDERS: dict[str, Callable[[str], str]] = {
    "as written": lambda text: text,
    "capitals like small letters": str.casefold,
    "accents taken off": lambda text: "".join(
        sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign)
    ),
}


def is_true(label: str, value: str) -> bool:
    """Tell whether what a label says holds for a value, in whatever order its reader puts texts."""
    if label == "*":
        return True
    if found := re.fullmatch(r"(?:(.+…), )?(?:part |group )?(\d+)(?: of |/)(\d+)", label, re.DOTALL):
        return int(found[2]) <= int(found[3]) and (found[1] is None or is_true(found[1], value))
    if re.fullmatch(r"\d{3}\*", label):
        return month_of(value).startswith(label[:3])
    if label.endswith("…"):
        return all(any(_begins(piece, value, order) for piece in pieces_of(label)) for order in ORDERS.values())
    if found := re.fullmatch(r"(below|above) (\S+)", label):
        number = Decimal(found[2])
        return Decimal(value) < number if found[1] == "below" else Decimal(value) > number
    if found := re.fullmatch(r"before (\d{4}(?:-\d\d)?)", label):
        return month_of(value) < found[1]
    if found := re.fullmatch(r"(\d{4}(?:-\d\d)?) or later", label):
        return month_of(value) >= found[1]
    if found := re.fullmatch(r"(\d{4}|\d{4}-\d\d)(?: to (\d{4}|\d{4}-\d\d))?", label):
        last = found[2] or found[1]
        if not re.fullmatch(r"[-+]?\d+(\.\d+)?", value):  # a year, not a number
            return found[1] <= month_of(value)[: len(found[1])] and month_of(value)[: len(last)] <= last
    low, high = label.split(" to ")
    return Decimal(low) <= Decimal(value) <= Decimal(high)


def pieces_of(label: str) -> list[tuple[str, str]]:
    """Return the beginnings that a label lists, each as its first and last one."""
    pieces = [piece.split("… to ") for piece in label[:-1].split("…, ")]
    return [(piece[0], piece[-1]) for piece in pieces]


def _begins(piece: tuple[str, str], value: str, order: Callable[[str], str]) -> bool:
    low, high, own = order(piece[0]), order(piece[1]), order(value)
    return low <= own[: len(low)] and own[: len(high)] <= high


def month_of(value: str) -> str:
    """Return the month of a date, by the calendar's own words."""
    date = re.split(r"[T ]", value)[0]
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y"):
        try:
            return f"{datetime.datetime.strptime(date, form):%Y-%m}"
        except ValueError:
            continue
    raise ValueError(value)
