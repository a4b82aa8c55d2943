"""Hierarchies that ARX keeps as settings (`.ahs`), as a policy writes them: a builder, or a tree over values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from kveil.errors import FileError, PolicyError
from kveil.exchange.arx_groups import NotCarriedError, arx_levels, interval_rows, number_in, order_rows
from kveil.exchange.foreign import as_tree
from kveil.exchange.java_stream import JavaObject, read_java, unwrap
from kveil.policy.attributes import DATE_LEVELS
from kveil.policy.lines import Line
from kveil.policy.numbers import is_whole, show_number
from kveil.policy.written import IntervalKeys, WrittenBuilder

MOST = 16 * 2**20  # bytes
_KINDS = "org.deidentifier.arx.aggregates.HierarchyBuilder"
_UNITS = {
    "MONTH_YEAR": "month",
    "QUARTER_YEAR": "quarter",
    "YEAR": "year",
    "DECADE": "decade",
    "CENTURY": "century",
}


@dataclass(frozen=True)
class ArxHierarchy:
    """What ARX's settings make: a builder, or a tree; ``left_out`` are sentences on what is not carried over."""

    builder: WrittenBuilder | None = None
    lines: tuple[Line, ...] = ()
    left_out: tuple[str, ...] = ()


def read_builder(path: Path, *, values: Sequence[str] | None = None) -> ArxHierarchy:
    """Return what ARX's settings make, over a column's distinct values where they are given.

    Values stand in the order in which they appear in the table. Raise FileError where kveil has nothing for them.
    """
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
    try:
        return _made(settings, values, path.name)
    except NotCarriedError as error:
        raise FileError(f"{path.name}: {error}.") from None
    except PolicyError as error:
        raise FileError(str(error)) from None
    except (KeyError, AttributeError, TypeError, ValueError, ArithmeticError):  # not as ARX's classes are
        raise FileError(
            f"{path.name} holds settings that kveil does not know; save the hierarchy in ARX as CSV and bring that."
        ) from None


def _made(settings: JavaObject, values: Sequence[str] | None, name: str) -> ArxHierarchy:
    kind = settings.name.removeprefix(_KINDS)
    if kind == "IntervalBased":
        regular = _regular_intervals(settings)
        return regular or ArxHierarchy(lines=as_tree(interval_rows(settings, values), name))
    if kind == "OrderBased":
        return ArxHierarchy(lines=as_tree(order_rows(settings, values), name))
    if kind == "RedactionBased":
        return _mask(settings)
    if kind == "Date":
        return _dates(settings)
    if kind == "PriorityBased":
        raise NotCarriedError(
            "it is priority-based and says which values become `*` first, which no hierarchy of kveil's can",
            remedy="leave the hierarchy out in the policy, where every value becomes `*` at once",
        )
    raise NotCarriedError(f"it is of the class {settings.name}, which kveil does not know")


def _regular_intervals(settings: JavaObject) -> ArxHierarchy | None:
    """Return `intervals` where ARX's are of one width, every level joins as many below, and none has a name."""
    found = unwrap(settings.fields["intervals"])
    bounds = [(number_in(interval, "min"), number_in(interval, "max")) for interval in found]
    sure = [(low, high) for low, high in bounds if low is not None and high is not None and low < high]
    widths = {high - low for low, high in sure}
    if len(sure) < len(bounds) or len(widths) != 1 or any(one[1] != other[0] for one, other in pairwise(sure)):
        return None
    steps = [widths.pop()]
    functions = [interval.fields["function"] for interval in found]
    for groups in arx_levels(settings):
        sizes = {group.fields["size"] for group in groups}
        if len(sizes) != 1:
            return None
        functions += [group.fields["function"] for group in groups]
        steps.append(steps[-1] * sizes.pop())
    kinds = {function.name.rpartition("$Generic")[2] for function in functions}
    ends = _ends(settings, sure, steps[-1])
    if ends is None or "Constant" in kinds:
        return None
    low, high = ends
    if all(is_whole(number) for number in (low, high, *steps)) and "Integer" in settings.fields["datatype"].name:
        high -= 1  # ARX leaves the upper bound out; here it is the last whole number
    inside: IntervalKeys = {
        "from": show_number(low),
        "to": show_number(high),
        "widths": [show_number(step) for step in steps],
    }
    others = sorted(kinds - {"Interval", "Bounds", "Set"})
    told = [f"The labels of intervals by the function {kind}: kveil shows their bounds." for kind in others]
    return ArxHierarchy({"intervals": inside}, left_out=tuple(told))


def _ends(
    settings: JavaObject, bounds: list[tuple[Decimal, Decimal]], widest: Decimal
) -> tuple[Decimal, Decimal] | None:
    """Return where the intervals begin and end; they must begin where those that are repeated do."""
    ends = []
    for key in ("lowerRange", "upperRange"):
        limits = {number_in(settings.fields[key], name) for name in ("repeatBound", "snapBound", "labelBound")}
        if len(limits) > 1:
            return None  # the outermost are cut otherwise than the others
        ends.append(limits.pop())
    low = bounds[0][0] if ends[0] is None else ends[0]
    high = bounds[-1][1] if ends[1] is None else ends[1]
    return (low, high) if low < high and (low - bounds[0][0]) % widest == 0 else None


def _mask(settings: JavaObject) -> ArxHierarchy:
    """Return `mask` where ARX cuts from the right, pads on the right and writes `*`."""
    signs = (settings.fields["paddingCharacter"], settings.fields["redactionCharacter"])
    longest = unwrap(settings.fields["maxValueLength"])
    if settings.fields["redactionOrder"] != "RIGHT_TO_LEFT" or settings.fields["aligmentOrder"] != "LEFT_TO_RIGHT":
        raise NotCarriedError("it redacts from the left or aligns on the right, which no builder of kveil's does")
    if signs != (ord("*"), ord("*")):
        raise NotCarriedError("it redacts by another sign than `*`, which no builder of kveil's does")
    if not isinstance(longest, float) or not 1 < longest <= 100:
        raise NotCarriedError("it does not say how long values are")
    return ArxHierarchy({"mask": {"keep": [str(kept) for kept in range(int(longest) - 1, 0, -1)]}})


def _dates(settings: JavaObject) -> ArxHierarchy:
    """Return `dates` by the units that both have; the others are told, and so is what else ARX does with dates."""
    units = list(settings.fields["granularities"])
    levels = sorted((_UNITS[unit] for unit in units if unit in _UNITS), key=DATE_LEVELS.index)
    others = [unit for unit in units if unit not in _UNITS and unit != "DAY_MONTH_YEAR"]
    if not levels:
        raise NotCarriedError(f"it has no unit that kveil has, but {', '.join(others) or 'days'} alone")
    told = [f"The unit {unit}: kveil has {', '.join(DATE_LEVELS)}." for unit in others]
    for key, end in (("bottomCoding", "first"), ("topCoding", "last")):
        if settings.fields[key] is not None:
            told.append(f"The {end} date, beyond which ARX shows all as one.")
    written = settings.fields["datatype"].fields.get("string")
    if written != "yyyy-MM-dd":
        told.append(f"How dates are written ({written or 'by ARX'}): kveil reads 1957-08-31 and the like.")
    return ArxHierarchy({"dates": levels}, left_out=tuple(told))
