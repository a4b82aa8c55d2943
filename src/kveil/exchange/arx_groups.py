"""ARX's builders of groups over values: runs in an order, and intervals with their own groups, labels and ends.

What ARX does is described by its class `HierarchyBuilderGroupingBased` and those below it. Every level joins so many
neighbours of the level below as its groups say, again and again from the first group on, and names each group by a
function of what is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle, takewhile
from typing import Any

from kveil.exchange.java_stream import JavaObject, unwrap
from kveil.policy.numbers import parse_number, show_number

MOST_NUMBERS = 20_000  # of a scale that is listed number by number
GIVE_VALUES = "give the table with --data and the column with --column"


class NotCarriedError(Exception):
    """Settings that kveil has nothing for; it says which, and what to do where there is something."""

    def __init__(self, reason: str, *, remedy: str = "save the hierarchy in ARX as CSV and bring that") -> None:
        super().__init__(f"{reason}; {remedy}")


def label_of(function: JavaObject, values: Sequence[str]) -> str:
    """Return the label that one of ARX's functions gives a group of values, which stand in their order."""
    kind, said = function.name.rpartition("$Generic")[2], function.fields
    if kind == "Constant":
        return str(said["value"])
    if kind == "Set":
        return f"{{{', '.join(values)}}}"
    if kind == "Bounds":
        return f"[{values[0]}, {values[-1]}]"
    if kind == "Interval":
        left, right = "[" if said["lowerIncluded"] else "]", "]" if said["upperIncluded"] else "["
        return f"{left}{values[0]}, {values[-1]}{right}"
    if kind == "SetOfPrefixes":
        return "-".join(value[: said["length"]] for value in values)
    if kind == "CommonPrefix":
        same = takewhile(lambda signs: len(set(signs)) == 1, zip(*values, strict=False))
        prefix, sign = "".join(signs[0] for signs in same), unwrap(said["redaction"])
        return prefix if sign is None else prefix.ljust(max(map(len, values)), chr(sign))
    raise NotCarriedError(f"its groups are named by the function {kind or function.name}, which kveil has not")


def arx_levels(settings: JavaObject) -> list[list[JavaObject]]:
    """Return the groups of every level, from the lowest on; a level without any ends them."""
    levels = unwrap(settings.fields["groups"])
    found: list[list[JavaObject]] = []
    for level in sorted(levels):
        groups = unwrap(levels[level].fields["list"])
        if not groups:
            break
        found.append(groups)
    return found


def _named_apart(label: str, key: Any, taken: dict[str, list[Any]]) -> str:
    """Return a label for a group, with a number behind it where another group of the level has it."""
    keys = taken.setdefault(label, [])
    if key not in keys:
        keys.append(key)
    place = keys.index(key)
    return f"{label}-{place}" if place else label


# ---------------------------------------------------------------------------------------------- in an order


def order_rows(settings: JavaObject, values: Sequence[str] | None) -> list[list[str]]:
    """Return a row for every value, up to the last group it is in, for values in an order."""
    ordered = _in_order(settings, values)
    rows = {value: [value] for value in ordered}
    runs = [[value] for value in ordered]
    for groups in arx_levels(settings):
        taken: dict[str, list[Any]] = {}
        joined: list[list[str]] = []
        for group, members in _joined(runs, groups):
            inside = [value for run in members for value in run]
            label = _named_apart(label_of(group.fields["function"], inside), len(joined), taken)
            for value in inside:
                rows[value].append(label)
            joined.append(inside)
        runs = joined
        if len(runs) == 1:
            break
    return list(rows.values())


def _joined(items: Sequence[Any], groups: Sequence[JavaObject]) -> Iterator[tuple[JavaObject, Sequence[Any]]]:
    """Return every group with the neighbours it joins; the last may have fewer than its size."""
    at = 0
    for group in cycle(groups):
        if at >= len(items):
            return
        size = max(int(group.fields["size"]), 1)
        yield group, items[at : at + size]
        at += size


def _in_order(settings: JavaObject, values: Sequence[str] | None) -> list[str]:
    """Return the values in ARX's order: the one the settings list, else the one of their type or of the table."""
    comparator, kind = settings.fields["comparator"], settings.fields["datatype"].name.rpartition("$ARX")[2]
    listed = None if comparator is None else _listed(comparator)
    if listed is None and kind == "OrderedString" and comparator is not None:
        listed = _listed(settings.fields["datatype"])
    if listed is not None:
        wanted = set(listed if values is None else values)
        if not wanted <= set(listed):
            raise NotCarriedError("it does not hold all values of the column", remedy="name another column")
        return [value for value in listed if value in wanted]
    if values is None:
        raise NotCarriedError("it puts the values of a table into groups", remedy=GIVE_VALUES)
    if comparator is None:
        return list(values)
    if kind in {"Integer", "Decimal"}:
        numbers = {value: parse_number(value) for value in values}
        if None in numbers.values():
            raise NotCarriedError(
                "it puts numbers into groups, and the column has other values", remedy="name another column"
            )
        return sorted(values, key=lambda value: (numbers[value], value))
    if kind == "String":
        return sorted(values)
    raise NotCarriedError(f"it sorts values of the type {kind}, which kveil does not")


def _listed(holder: JavaObject) -> list[str] | None:
    """Return the values that an object numbers, by their numbers; None where it numbers none."""
    for field in holder.fields.values():
        places = unwrap(field)
        if isinstance(places, dict) and all(isinstance(value, str) for value in places):
            return sorted(places, key=lambda value: int(unwrap(places[value])))
    return None


# ---------------------------------------------------------------------------------------------- intervals


@dataclass(frozen=True)
class _Interval:
    low: Decimal
    high: Decimal
    function: JavaObject

    def moved(self, by: Decimal) -> _Interval:
        return _Interval(self.low + by, self.high + by, self.function)

    @property
    def label(self) -> str:
        return label_of(self.function, [show_number(self.low), show_number(self.high)])


@dataclass(frozen=True)
class _End:
    """Where intervals are no longer repeated, where the outermost ends, and where values end."""

    repeat: Decimal
    snap: Decimal
    last: Decimal


def number_in(holder: JavaObject, name: str) -> Decimal | None:
    """Return the number that a field holds, None where it holds none."""
    value = unwrap(holder.fields[name])
    return parse_number(repr(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _end(settings: JavaObject, key: str, otherwise: Decimal) -> _End:
    found = [otherwise]
    for name in ("repeatBound", "snapBound", "labelBound"):
        number = number_in(settings.fields[key], name)
        found.append(found[-1] if number is None else number)
    return _End(*found[1:])


def interval_rows(settings: JavaObject, values: Sequence[str] | None) -> list[list[str]]:
    """Return a row for every value, up to its widest interval; without values for every whole number of the scale."""
    intervals = _intervals_in(settings)
    lower = _end(settings, "lowerRange", intervals[0].low)
    upper = _end(settings, "upperRange", intervals[-1].high)
    if values is None:
        whole = settings.fields["datatype"].name.endswith("$ARXInteger")
        if not whole or upper.last - lower.last > MOST_NUMBERS:
            raise NotCarriedError("it puts the numbers of a table into intervals of its own", remedy=GIVE_VALUES)
        values = [str(number) for number in range(int(lower.last), int(upper.last))]
    rows = {value: [value] for value in values}
    for level in [None, *arx_levels(settings)]:
        if level is not None:
            intervals = _wider(intervals, level)
        finder, taken = _finder(intervals, lower, upper), dict[str, list[Any]]()
        labels = {}
        for value in values:
            number = parse_number(value)
            if number is None or not lower.last <= number < upper.last:
                raise NotCarriedError("it does not hold all values of the column", remedy="name another column")
            key, label = finder(number)
            labels[value] = _named_apart(label, key, taken)
        if len(set(labels.values())) == 1:
            break
        for value, label in labels.items():
            rows[value].append(label)
    return list(rows.values())


def _intervals_in(settings: JavaObject) -> list[_Interval]:
    found = []
    for interval in unwrap(settings.fields["intervals"]):
        low, high = number_in(interval, "min"), number_in(interval, "max")
        if low is None or high is None:
            raise NotCarriedError("its intervals are not of numbers, such as those of dates, which kveil has not")
        found.append(_Interval(low, high, interval.fields["function"]))
    if not found or any(one.low >= one.high for one in found):
        raise NotCarriedError("its intervals are none")
    return found


def _wider(intervals: list[_Interval], groups: Sequence[JavaObject]) -> list[_Interval]:
    """Return the intervals of the next level; where groups join more than there are, these are repeated."""
    asked, period = sum(int(group.fields["size"]) for group in groups), intervals[-1].high - intervals[0].low
    if asked > MOST_NUMBERS:
        raise NotCarriedError("its groups are larger than any scale")
    rounds = -(-asked // len(intervals))
    items = [one.moved(turn * period) for turn in range(max(rounds, 1)) for one in intervals]
    joined = _joined(items[: max(asked, len(intervals))], groups)
    return [_Interval(members[0].low, members[-1].high, group.fields["function"]) for group, members in joined]


def _finder(intervals: list[_Interval], lower: _End, upper: _End) -> Callable[[Decimal], tuple[Any, str]]:
    """Return the function from a number to the interval it is in, and its label; the outermost end where values do."""
    start, period = intervals[0].low, intervals[-1].high - intervals[0].low

    def repeated(number: Decimal, *, ends_there: bool = False) -> _Interval:
        shift = (number - start) // period * period  # towards zero, and ends belong to two
        for by in (shift - period, shift, shift + period):
            for one in intervals:
                here = one.moved(by)
                if here.low < number <= here.high if ends_there else here.low <= number < here.high:
                    return here
        raise NotCarriedError("its intervals have gaps")

    first, last = repeated(lower.repeat), repeated(upper.repeat, ends_there=True)
    first, last = _Interval(lower.snap, first.high, first.function), _Interval(last.low, upper.snap, last.function)
    if first.high > last.low:
        first = last = _Interval(first.low, last.high, first.function)

    def find(number: Decimal) -> tuple[Any, str]:
        if number < lower.snap:
            return "below", f"<{show_number(lower.snap)}"
        if number >= upper.snap:
            return "above", f">={show_number(upper.snap)}"
        here = repeated(number)
        if here.low < first.high:
            here = first
        elif here.high > last.low:
            here = last
        return (here.low, here.high), here.label

    return find
