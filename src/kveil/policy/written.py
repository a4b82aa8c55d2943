"""Parts of a policy as kveil writes them, by the keys that docs/policy.md names: numbers are texts, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

WrittenTree = dict[str, "WrittenTree | list[str]"]  # groups are keys, lists hold values

IntervalKeys = TypedDict(
    "IntervalKeys", {"from": str, "to": str, "widths": list[str], "open": NotRequired[str]}
)  # `from` is a word of Python's


class WrittenIntervals(TypedDict):
    """The builder of intervals."""

    intervals: IntervalKeys


class MaskKeys(TypedDict):
    """How many characters each step of a mask keeps."""

    keep: Sequence[str | int]


class WrittenMask(TypedDict):
    """The builder that masks codes from their end."""

    mask: MaskKeys


class WrittenDates(TypedDict):
    """The builder of the calendar."""

    dates: list[str]


WrittenBuilder = WrittenIntervals | WrittenMask | WrittenDates


class InsideTree(TypedDict):
    """A tree that stands in the policy itself."""

    tree: WrittenTree | list[str]


class WrittenSteps(TypedDict, total=False):
    """The steps of an attribute and how far they may be gone; a hierarchy may be the name of a file."""

    hierarchy: str | WrittenBuilder | InsideTree
    boundary: list[str] | dict[str, str]


class WrittenAttribute(WrittenSteps):
    """An attribute with its role."""

    role: str
    weight: NotRequired[str]


class WrittenData(TypedDict):
    """What a policy for others says of the released table."""

    missing: list[str]
    separator: NotRequired[str]


class WrittenModel(TypedDict):
    """A privacy model with its settings."""

    model: str
    k: NotRequired[str]
    sensitive: NotRequired[str]
    alpha: NotRequired[str]
    t: NotRequired[str]
    distance: NotRequired[str]
    l: NotRequired[str]  # noqa: E741
    variant: NotRequired[str]
    c: NotRequired[str]
