"""Attributes of a policy: roles, hierarchies and boundaries, as frozen classes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from kveil.free_form import JsonSchema
from kveil.policy.fields import ANY_TEXT, Names, Number, PathText, PolicyPart, Whole, rejection
from kveil.policy.numbers import EXACT, coarse_step, show_number

DATE_LEVELS = ("month", "quarter", "year", "decade", "century")
STAR = "*"
MOST_LEVELS = 1_000  # of a mask: each value has a text for every one of them
MOST_QUOTED = 8  # entries of a list that a rejection repeats

Role = Literal["identifier", "individual", "quasi-identifier", "sensitive", "insensitive"]


# ---------------------------------------------------------------------------------------------- hierarchies


def _beginning(entries: Sequence[object]) -> str:
    """Return a list as it is written, cut where it is long."""
    shown = ", ".join(map(repr, entries[:MOST_QUOTED]))
    return f"[{shown}]" if len(entries) <= MOST_QUOTED else f"[{shown}, … {len(entries) - MOST_QUOTED:,} more]"


class HierarchyFile(PolicyPart):
    """A hierarchy in ARX's form: one line per leaf, ``leaf;parent;…;root``."""

    form: Literal["file"] = "file"
    path: PathText


class Intervals(PolicyPart):
    """Numbers in intervals of growing widths, under a root ``*``.

    ``open``: the first intervals also hold what is below `from` (``<20``), the last ones what is above `to` (``>=90``).
    """

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    form: Literal["intervals"] = "intervals"
    from_: Number = Field(alias="from")
    to: Number
    widths: Annotated[tuple[Number, ...], Field(min_length=1)]
    open: Literal["below", "above", "both"] | None = None

    @property
    def open_below(self) -> bool:
        """Whether numbers below `from` are taken."""
        return self.open in {"below", "both"}

    @property
    def open_above(self) -> bool:
        """Whether numbers above `to` are taken."""
        return self.open in {"above", "both"}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.from_ >= self.to:
            raise rejection(f"must have `from` below `to`, not {self.from_} and {self.to}")
        for width in self.widths:
            if width <= 0:
                raise rejection(f"has a width of {width}; widths must be more than 0")
        for narrow, wide in zip(self.widths, self.widths[1:], strict=False):
            if wide <= narrow or EXACT.remainder(wide, narrow):
                raise rejection(
                    f"has widths {narrow} and {wide}; each must be a multiple of the one before, as in [5, 10, 20]"
                )
        if self.open == "both" and EXACT.subtract(self.to, self.from_) < self.widths[-1]:
            raise rejection(
                f"is open at both ends and has one interval of {self.widths[-1]}, which is anything; "
                "leave that width out"
            )
        return self


class Mask(PolicyPart):
    """Texts cut to their first characters, the rest shown as ``*``."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    form: Literal["mask"] = "mask"
    keep: Annotated[tuple[Whole, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _falling(self) -> Self:
        if any(kept < 0 for kept in self.keep) or any(
            right >= left for left, right in zip(self.keep, self.keep[1:], strict=False)
        ):
            raise rejection(f"keeps {_beginning(self.keep)}; the numbers must fall and not be negative, as in [4, 3]")
        if len(self.keep) > MOST_LEVELS:
            raise rejection(
                f"lists {len(self.keep):,} numbers, and there may be {MOST_LEVELS:,}; leave out some of them"
            )
        return self


class Dates(PolicyPart):
    """ISO dates by calendar units, under a root ``*``."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    form: Literal["dates"] = "dates"
    levels: Annotated[tuple[Literal["month", "quarter", "year", "decade", "century"], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _growing(self) -> Self:
        ranks = [DATE_LEVELS.index(level) for level in self.levels]
        if any(right <= left for left, right in itertools.pairwise(ranks)):
            raise rejection(
                f"lists {_beginning(self.levels)}; the units must grow, in the order {', '.join(DATE_LEVELS)}"
            )
        return self


LONGEST_BOUND = 100  # characters of a number of `ranges`: its spans stay short enough to be read back


class Ranges(PolicyPart):
    """Numbers without a tree: a group shows ``min-max`` of its values.

    ``bounds: midpoints`` moves both halfway to the next number that is released, along a grid that the policy alone
    gives, so that they tell nobody's number.
    """

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    form: Literal["ranges"] = "ranges"
    within: tuple[Number, Number]
    round: Number | None = None
    bounds: Literal["values", "midpoints"] = "values"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.within[0] >= self.within[1]:
            raise rejection(f"must lie `within` a lower and a higher number, not [{self.within[0]}, {self.within[1]}]")
        if any(len(show_number(n)) > LONGEST_BOUND for n in (*self.within, self.round) if n is not None):
            raise rejection(
                f"has a number that takes more than {LONGEST_BOUND} characters to write out; give `ranges` numbers "
                "that people can read"
            )
        if self.round is not None and self.round <= 0:
            raise rejection(f"has `round: {self.round}`; it must be more than 0")
        return self

    @property
    def grid(self) -> Decimal | None:
        """Return the step of which bounds are multiples, the ends of the domain apart; None where they are values."""
        return self.round if self.round is not None or self.bounds == "values" else coarse_step(*self.within)


class Tree(PolicyPart):
    """A tree written into the policy: mappings are inner nodes, lists hold leaves."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    form: Literal["tree"] = "tree"
    tree: Any

    @field_validator("tree", mode="before")
    @classmethod
    def _one_root(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or len(value) != 1:
            raise rejection("must be a mapping with one top key, the root")
        return value

    def paths(self) -> list[tuple[str, ...]]:
        """Return every leaf's way to the root, leaf first, in the order written."""
        found: list[tuple[str, ...]] = []
        stack: list[tuple[str, Any, tuple[str, ...]]] = [
            (str(root), below, ()) for root, below in reversed(list(self.tree.items()))
        ]
        while stack:
            label, below, above = stack.pop()
            here = (label, *above)
            if isinstance(below, Mapping) and below:
                stack.extend((str(child), deeper, here) for child, deeper in reversed(list(below.items())))
            elif isinstance(below, (list, tuple)):
                if not below:
                    found.append(here)
                for leaf in below:
                    if isinstance(leaf, (Mapping, list, tuple)) or leaf is None:
                        raise rejection(
                            f"has a list under {label!r} that holds more than leaves; nest with `key: [...]`"
                        )
                    found.append((str(leaf), *here))
            else:
                raise rejection(f"has {label!r} without a list of leaves; write `{label}: []` if it is a leaf")
        return found

    @model_validator(mode="after")
    def _readable(self) -> Self:
        self.paths()
        return self


Hierarchy = Annotated[
    HierarchyFile | Intervals | Mask | Dates | Ranges | Tree,
    Field(discriminator="form"),
]

_NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}
_HIERARCHY_SCHEMA: JsonSchema = {
    "description": "a file in ARX's form, or one of the builders; left out: value -> *",
    "anyOf": [
        {"type": "string"},
        {"type": "null"},
        *(
            {
                "type": "object",
                "additionalProperties": False,
                "required": [form],
                "properties": {form: inside},
            }
            for form, inside in {
                "intervals": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["from", "to", "widths"],
                    "properties": {
                        "from": {"type": "number"},
                        "to": {"type": "number"},
                        "widths": _NUMBERS,
                        "open": {"enum": ["below", "above", "both"]},
                    },
                },
                "mask": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["keep"],
                    "properties": {
                        "keep": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}
                    },
                },
                "dates": {"type": "array", "items": {"enum": list(DATE_LEVELS)}, "minItems": 1},
                "ranges": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["within"],
                    "properties": {
                        "within": {
                            "type": "array",
                            "items": {"type": "number"},
                            "minItems": 2,
                            "maxItems": 2,
                        },
                        "round": {"type": "number", "exclusiveMinimum": 0},
                        "bounds": {"enum": ["values", "midpoints"], "default": "values"},
                    },
                },
                "tree": {"type": "object", "minProperties": 1, "maxProperties": 1},
            }.items()
        ),
    ],
}
HIERARCHY_FORMS = ("intervals", "mask", "dates", "ranges", "tree")


def _hierarchy_from_yaml(value: Any) -> Any:
    """Turn ``{mask: {keep: [4]}}`` into the tagged form the union reads, a text into a file."""
    if isinstance(value, (str, Path)):
        if not str(value):
            raise rejection("must be a file or a builder, not an empty text")
        return {"form": "file", "path": str(value)}
    if not isinstance(value, Mapping) or "form" in value:
        return value
    if len(value) != 1 or next(iter(value)) not in HIERARCHY_FORMS:
        names = ", ".join(HIERARCHY_FORMS)
        found = ", ".join(repr(str(key)) for key in value) or "nothing"
        raise rejection(f"must be a file or exactly one of {names}, not {found}")
    ((form, inside),) = value.items()
    if form == "dates":
        return {"form": form, "levels": inside}
    if form == "tree":
        return {"form": form, "tree": inside}
    if not isinstance(inside, Mapping):
        raise rejection(f"has `{form}` without a mapping of its settings")
    return {"form": form, **inside}


# ---------------------------------------------------------------------------------------------- boundaries


class Marked(PolicyPart):
    """Nodes beyond which no value below them is generalized."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    form: Literal["marked"] = "marked"
    nodes: Names


class Level(PolicyPart):
    """Marks every node that has a leaf ``level`` edges below it."""

    form: Literal["level"] = "level"
    level: Annotated[Whole, Field(ge=0), WithJsonSchema({"type": "integer", "minimum": 0})]


class MaxWidth(PolicyPart):
    """The largest width (high − low, as shown) a group may have in a `ranges` attribute."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    form: Literal["max_width"] = "max_width"
    max_width: Annotated[Number, Field(ge=0)]


Boundary = Annotated[Marked | Level | MaxWidth, Field(discriminator="form")]

_BOUNDARY_SCHEMA: JsonSchema = {
    "description": "how far values may be generalized: marked nodes, a level, or a largest width for `ranges`",
    "anyOf": [
        {"type": "array", "items": ANY_TEXT, "minItems": 1},
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["level"],
            "properties": {"level": {"type": "integer", "minimum": 0}},
        },
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["max_width"],
            "properties": {"max_width": {"type": "number", "minimum": 0}},
        },
        {"type": "null"},
    ],
}


def _boundary_from_yaml(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return {"form": "marked", "nodes": value}
    if isinstance(value, Mapping) and "form" not in value:
        if len(value) == 1 and (key := next(iter(value))) in {"level", "max_width"}:
            return {"form": key, **value}
        raise rejection("must be a list of nodes, {level: n} or {max_width: w}")
    if isinstance(value, str):
        raise rejection(f"must be a list of nodes, as in [{value}], or {{level: n}} or {{max_width: w}}")
    return value


# ---------------------------------------------------------------------------------------------- attributes


class Attribute(PolicyPart):
    """What a column is, and how its values may be generalized."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    role: Role
    hierarchy: Annotated[Hierarchy | None, WithJsonSchema(_HIERARCHY_SCHEMA)] = None
    boundary: Annotated[Boundary | None, WithJsonSchema(_BOUNDARY_SCHEMA)] = None
    weight: Annotated[Number, Field(gt=0), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})] = Decimal(1)

    @property
    def widest(self) -> Decimal | None:
        """The largest width that a span of numbers may show, None where its boundary gives none."""
        return self.boundary.max_width if isinstance(self.boundary, MaxWidth) else None

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _hierarchy(cls, value: Any) -> Any:
        return None if value is None else _hierarchy_from_yaml(value)

    @field_validator("boundary", mode="before")
    @classmethod
    def _boundary(cls, value: Any) -> Any:
        return None if value is None else _boundary_from_yaml(value)

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        is_quasi = self.role == "quasi-identifier"
        if self.hierarchy is not None and self.role not in {"quasi-identifier", "sensitive"}:
            raise rejection(f"has a hierarchy, but role {self.role} is never generalized; take one of the two away")
        if isinstance(self.hierarchy, Ranges) and not is_quasi:
            raise rejection("has `ranges`, which only quasi-identifiers may have")
        if self.boundary is not None and not is_quasi:
            raise rejection(f"has a boundary, but only quasi-identifiers have one, not role {self.role}")
        if self.weight != 1 and not is_quasi:
            raise rejection(f"has a weight, but only quasi-identifiers have one, not role {self.role}")
        if isinstance(self.boundary, MaxWidth) != isinstance(self.hierarchy, Ranges) and self.boundary:
            if isinstance(self.boundary, MaxWidth):
                raise rejection("has {max_width: …}, which goes with `ranges`; mark nodes or give {level: n}")
            raise rejection("has `ranges`, which has no nodes to mark; give its boundary as {max_width: w}")
        if self.boundary and isinstance(self.hierarchy, Ranges) and self.hierarchy.bounds == "midpoints":
            raise rejection(
                "has `bounds: midpoints`, which may pass a largest width; give `round` instead, or no boundary"
            )
        return self
