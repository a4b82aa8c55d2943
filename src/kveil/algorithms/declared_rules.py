"""The dependencies that a policy declares, one right side at a time, by numbers of columns."""

from __future__ import annotations

from dataclasses import dataclass

from kveil.table.table import Table


@dataclass(frozen=True)
class DeclaredRule:
    """A rule with one attribute on its right; numbers are quasi-identifiers, from ``len(names)`` on other columns.

    A rule that is not ``strict`` (a multivalued one, treated like a functional one) is kept where climbing does it,
    and costs no record.
    """

    left: tuple[int, ...]
    right: int
    text: str
    strict: bool = True


def rules_of(table: Table, *, multivalued: bool) -> list[DeclaredRule]:
    """Return a policy's rules one right side at a time; multivalued ones only where they are asked for."""
    number = {name: i for i, name in enumerate((*table.names, *table.others))}
    found = []
    for rule in table.policy.dependencies:
        if rule.multivalued and not multivalued:
            continue
        left = tuple(sorted(number[name] for name in rule.left))
        for name in rule.right:
            if name in rule.left or (rule.multivalued and number[name] >= len(table.names)):
                continue
            found.append(DeclaredRule(left, number[name], rule.rule, not rule.multivalued))
    return found
