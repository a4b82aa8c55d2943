"""Declared dependencies: ``department -> phone`` (functional), ``course ->> teacher`` (multivalued)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticCustomError


@dataclass(frozen=True)
class Dependency:
    """A rule between attributes that a release has to keep."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    multivalued: bool = False

    @property
    def rule(self) -> str:
        """The rule as it is written in a policy."""
        arrow = "->>" if self.multivalued else "->"
        return f"{', '.join(self.left)} {arrow} {', '.join(self.right)}"


def parse_dependency(text: Any) -> Dependency:
    """Return the rule a text writes: attributes left and right of ``->`` or ``->>``, separated by commas."""
    example = "write it as 'department -> phone' or 'course ->> teacher'"
    if not isinstance(text, str):
        raise PydanticCustomError("told", "{told}", {"told": f"holds a rule that is no text; {example}"})
    for arrow, multivalued in (("->>", True), ("->", False)):
        left, found, right = text.partition(arrow)
        if found:
            sides = [tuple(name.strip() for name in side.split(",")) for side in (left, right)]
            if all(all(side) for side in sides) and not any("->" in name for side in sides for name in side):
                return Dependency(sides[0], sides[1], multivalued)
            break
    raise PydanticCustomError("told", "{told}", {"told": f"holds {text!r}, which is no rule; {example}"})
