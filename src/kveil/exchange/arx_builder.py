"""Hierarchies that ARX keeps as settings (`.ahs`): regular intervals and redaction, as a policy writes them."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from kveil.errors import FileError
from kveil.exchange.java_stream import JavaObject, read_java, unwrapped
from kveil.policy.numbers import is_whole, parse_number, show_number

MOST = 16 * 2**20  # bytes
_KINDS = "org.deidentifier.arx.aggregates.HierarchyBuilder"


def read_builder(path: Path) -> dict[str, Any]:
    """Return the builder that does what ARX's settings say; raise FileError where none does."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST + 1)
    except OSError as error:
        raise FileError(f"{path.name}: the file cannot be read ({error.strerror}); check the path.") from None
    if len(raw) > MOST:
        raise FileError(
            f"{path.name} is larger than any such settings; save the hierarchy in ARX as CSV and bring that."
        )
    settings = read_java(raw, path.name)
    kind = settings.name.removeprefix(_KINDS)
    builder = None
    try:
        if kind == "IntervalBased":
            builder = _intervals(settings)
        elif kind == "RedactionBased":
            builder = _mask(settings)
    except (KeyError, AttributeError, TypeError):  # fields that ARX's classes have, and these objects have not
        builder = None
    if builder is None:
        raise FileError(
            f"{path.name} holds settings that no builder of kveil's has, or only over a table; save the hierarchy in "
            "ARX as CSV and bring that."
        )
    return builder


def _intervals(settings: JavaObject) -> dict[str, Any] | None:
    """Return `intervals` where ARX's are of one width, and every level joins as many of those below."""
    bounds = [
        (_number(interval, "min"), _number(interval, "max")) for interval in unwrapped(settings.fields["intervals"])
    ]
    if not bounds or any(low is None or high is None or low >= high for low, high in bounds):
        return None
    sure = [(low, high) for low, high in bounds if low is not None and high is not None]
    widths = {high - low for low, high in sure}
    if len(widths) > 1 or any(one[1] != other[0] for one, other in pairwise(sure)):
        return None
    levels = unwrapped(settings.fields["groups"])
    steps = [widths.pop()]
    for level in sorted(levels):
        sizes = {group.fields["size"] for group in unwrapped(levels[level].fields["list"])}
        if len(sizes) != 1:
            return None
        steps.append(steps[-1] * sizes.pop())
    low, high = _ends(settings, sure, steps[-1])
    if low is None or high is None or low >= high:
        return None
    if all(is_whole(number) for number in (low, high, *steps)) and "Integer" in settings.fields["datatype"].name:
        high -= 1  # ARX leaves the upper bound out; here it is the last whole number
    inside = {"from": show_number(low), "to": show_number(high), "widths": [show_number(step) for step in steps]}
    return {"intervals": inside}


def _ends(
    settings: JavaObject, bounds: list[tuple[Decimal, Decimal]], widest: Decimal
) -> tuple[Decimal | None, Decimal | None]:
    """Return where the intervals begin and end; they must begin where those that are repeated do."""
    ends = []
    for key in ("lowerRange", "upperRange"):
        limits = {_number(settings.fields[key], name) for name in ("repeatBound", "snapBound", "labelBound")}
        if len(limits) > 1:
            return None, None  # the outermost are cut otherwise than the others
        ends.append(limits.pop())
    low = bounds[0][0] if ends[0] is None else ends[0]
    high = bounds[-1][1] if ends[1] is None else ends[1]
    if (low - bounds[0][0]) % widest != 0:
        return None, None
    return low, high


def _number(holder: JavaObject, name: str) -> Decimal | None:
    value = unwrapped(holder.fields[name])
    return parse_number(repr(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _mask(settings: JavaObject) -> dict[str, Any] | None:
    """Return `mask` where ARX cuts from the right, pads on the right and writes `*`."""
    signs = (settings.fields["paddingCharacter"], settings.fields["redactionCharacter"])
    longest = unwrapped(settings.fields["maxValueLength"])
    right = settings.fields["redactionOrder"] == "RIGHT_TO_LEFT" and settings.fields["aligmentOrder"] == "LEFT_TO_RIGHT"
    if not right or signs != (ord("*"), ord("*")) or not isinstance(longest, float) or not 1 < longest <= 100:
        return None
    return {"mask": {"keep": [str(kept) for kept in range(int(longest) - 1, 0, -1)]}}
