"""Say which dependencies hold in a table, and how those that a policy declares stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import polars as pl

from kveil.discover.coded_columns import Columns
from kveil.discover.find import functional_rules, multivalued_rules
from kveil.discover.offending import GroupSides, check_names, offending
from kveil.errors import DataError, PolicyError
from kveil.files import Source
from kveil.policy.attributes import STAR
from kveil.policy.dependencies import Dependency
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.words import listing

MOST_COLUMNS = 12  # among which rules are looked for


class FoundRule(TypedDict):
    """A rule that holds in a table."""

    rule: str
    left: list[str]
    right: list[str]


class FoundFunctionalRule(FoundRule):
    """A functional dependency that holds; ``key`` where no two rows agree on its left side."""

    key: bool


class RuleStanding(TypedDict):
    """How a rule that a policy declares stands in a table, and what a release can do for it."""

    rule: str
    kind: str
    holds: bool
    broken: int
    groups: list[GroupSides]
    kept: str


class TableRules(TypedDict):
    """The rules that hold in a table, and how the declared ones of a policy stand."""

    data: str
    records: int
    columns: list[str]
    left_out: list[str]
    declared: list[RuleStanding]
    constant: list[str]
    functional: list[FoundFunctionalRule]
    multivalued: list[FoundRule]


def how_kept(rule: Dependency, policy: Policy) -> str:
    """Say what a release can do for a rule, before anything runs."""
    quasi = set(policy.quasi_identifiers)
    right = [name for name in rule.right if name not in rule.left]
    fixed = [name for name in right if name not in quasi]
    if not quasi.intersection(rule.left + rule.right):
        return "kept always: no side is generalized"
    if rule.multivalued:
        return "reported; k-msd-ag keeps it by climbing its right side" if not fixed else "reported"
    if not fixed:
        return "kept: the right side climbs with the left"
    if not quasi.intersection(rule.left):
        return "kept always: no side is generalized" if len(fixed) == len(right) else "kept: the right side climbs"
    role = policy.attributes[fixed[0]].role
    return (
        f"kept only where no left sides with different {fixed[0]} are merged: it is {role}, released as is, and cannot "
        "be generalized"
    )


def describe_rules(
    table: Source, policy: Policy | None, *, chosen: Sequence[str] | None = None, progress: Progress = silent
) -> TableRules:
    """Return the rules that hold in a table, and how the declared ones of a policy stand.

    With a policy, columns that are never released are left out, and so are rows that show `*` alone. ``chosen`` names
    the columns to look at.
    """
    names = [name for name in policy.released if name in table.frame.columns] if policy else table.frame.columns
    if chosen is not None:
        check_names(table, chosen)
        barred = [name for name in chosen if name not in names]
        if barred:
            raise PolicyError(f"{listing(barred)} cannot be looked at: the policy never releases it.")
    texts = pl.DataFrame({name: _told(table.texts(name), policy.data.missing if policy else ()) for name in names})
    quasi = [name for name in policy.quasi_identifiers if name in names] if policy else []
    if quasi and texts.height:
        texts = texts.filter(~pl.all_horizontal(pl.col(quasi).eq_missing(pl.lit(STAR))))
    named = _named(texts, policy, table.name) if policy is not None and policy.dependencies else []
    every = list(names if chosen is None else chosen)
    looked_at = every[:MOST_COLUMNS]
    columns = Columns(texts.select(list(dict.fromkeys([*looked_at, *named]))))
    declared = _declared(columns, policy, quasi) if policy is not None else []
    progress("looking for rules")
    among = columns if columns.names == looked_at else columns.only(looked_at)
    constant = [a for a in range(len(looked_at)) if among.rows and among.groups((a,)) == 1]
    functional, multivalued = _holding(among, constant, policy)
    return {
        "data": table.name,
        "records": texts.height,
        "columns": looked_at,
        "left_out": every[MOST_COLUMNS:],
        "declared": declared,
        "constant": [among.names[a] for a in constant],
        "functional": functional,
        "multivalued": multivalued,
    }


def _holding(
    columns: Columns, constant: Sequence[int], policy: Policy | None
) -> tuple[list[FoundFunctionalRule], list[FoundRule]]:
    """Return the functional and the multivalued rules that hold among columns that are not constant."""
    everything = range(len(columns.names))
    among = [a for a in everything if a not in constant] if columns.rows > 1 else []
    functional = functional_rules(columns, among)
    spread = [a for a in among if policy is None or columns.names[a] in policy.quasi_identifiers]
    multivalued = multivalued_rules(columns, spread, functional) if spread else []

    def rule(left: tuple[int, ...], right: tuple[int, ...], arrow: str) -> FoundRule:
        sides = [columns.names[a] for a in left], [columns.names[a] for a in right]
        return {"rule": f"{', '.join(sides[0])} {arrow} {', '.join(sides[1])}", "left": sides[0], "right": sides[1]}

    return (
        [{**rule(left, (right,), "->"), "key": columns.groups(left) == columns.rows} for left, right in functional],
        [rule(left, right, "->>") for left, right in multivalued],
    )


def _told(texts: pl.Series, missing: tuple[str, ...]) -> pl.Series:
    """Return a column with everything that means missing as null; a star of a release stays one."""
    absent = [text for text in missing if text != STAR]
    if not absent:
        return texts
    frame = texts.to_frame("text")
    return frame.select(pl.when(pl.col("text").is_in(absent)).then(None).otherwise(pl.col("text")).alias(texts.name))[
        texts.name
    ]


def _named(texts: pl.DataFrame, policy: Policy, name: str) -> list[str]:
    """Return the columns that declared rules are about: what they name, and the quasi-identifiers beside that."""
    named = [n for rule in policy.dependencies for n in rule.left + rule.right]
    absent = [n for n in named if n not in texts.columns]
    if absent:
        raise DataError(f"{name} lacks {listing(absent)}, which a dependency names.")
    return [*named, *(n for n in policy.quasi_identifiers if n in texts.columns)]


def _declared(columns: Columns, policy: Policy, quasi: list[str]) -> list[RuleStanding]:
    """Return how the declared rules stand."""
    rules: list[RuleStanding] = []
    for rule in policy.dependencies:
        broken, groups = offending(columns, rule, quasi)
        rules.append(
            {
                "rule": rule.rule,
                "kind": "multivalued" if rule.multivalued else "functional",
                "holds": broken == 0,
                "broken": broken,
                "groups": [group.as_json() for group in groups],
                "kept": how_kept(rule, policy),
            }
        )
    return rules
