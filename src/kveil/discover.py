"""Dependencies of a table as it stands: find those that hold, test those that are declared, show where one fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints
from kveil.errors import DataError, PolicyError
from kveil.files import Source
from kveil.frames import from_frame
from kveil.kernels.grouping.groups import group_rows
from kveil.policy.attributes import STAR
from kveil.policy.dependencies import Dependency
from kveil.policy.model import Policy
from kveil.table.columns import code_texts
from kveil.words import did_you_mean, listing

MOST_COLUMNS = 12  # among which rules are looked for
WIDEST = 2  # attributes on the left of a multivalued rule, and on its right
PART = 20_000  # rows that are looked at first, where all of them are many
SHOWN = 5  # offending groups that are shown
VALUES = 5  # right sides of a group that are shown


class _Columns:
    """Columns as codes, with the numbers of groups that were asked for before."""

    def __init__(self, texts: pl.DataFrame) -> None:
        self.names = texts.columns
        self.rows = texts.height
        self.texts = texts
        self.codes = np.array([_codes(texts[name]) for name in self.names], dtype=np.int32).reshape(
            len(self.names), self.rows
        )
        self.known: dict[tuple[int, ...], int] = {(): min(self.rows, 1)}

    def groups(self, columns: tuple[int, ...]) -> int:
        """Return how many different tuples some columns have."""
        if columns not in self.known:
            self.known[columns] = len(group_rows(self.codes[list(columns)])[1])
        return self.known[columns]


def _codes(texts: pl.Series) -> Ints:
    """Return a column as numbers; missing is a value of its own."""
    return code_texts(texts).codes + np.int32(1)


# ---------------------------------------------------------------------------------------------- find


def _functional(columns: _Columns, among: list[int]) -> list[tuple[tuple[int, ...], int]]:
    """Return the minimal rules X -> A that hold, level by level: X -> A where X and XA have as many tuples.

    What a smaller left side determines already is not asked again, and nothing is added to a left side that tells
    all rows apart. (The lattice of TANE, Huhtala et al. 1999, with counts of distinct tuples in place of partitions.)
    """
    found: list[tuple[tuple[int, ...], int]] = []
    determined: dict[tuple[int, ...], set[int]] = {}
    everything = columns.groups(tuple(among))
    level: list[tuple[int, ...]] = [(a,) for a in among]
    while level:
        for left in level:
            own = {a for i in range(len(left)) for a in determined.get(left[:i] + left[i + 1 :], ())}
            for a in among:
                if a not in left and a not in own:
                    both = tuple(sorted((*left, a)))
                    if columns.groups(left) == columns.groups(both):
                        found.append((left, a))
                        own.add(a)
            determined[left] = own
        open_to = {
            left for left in level if columns.groups(left) < everything and not any(a in determined[left] for a in left)
        }
        level = [
            wider
            for left in sorted(open_to)
            for a in among
            if a > left[-1]
            and all((wider := (*left, a))[:i] + wider[i + 1 :] in open_to for i in range(len(left) + 1))
            and not any(wider[i] in determined.get(wider[:i] + wider[i + 1 :], ()) for i in range(len(wider)))
        ]
    return found


def _independent(codes: Ints, left: list[int], right: list[int], rest: list[int]) -> Bools:
    """Tell for every row's group of equal left sides whether each right side occurs with each rest."""
    group, first = group_rows(codes[left])
    counts = []
    for part in (right, rest, right + rest):
        at = group_rows(np.array([group, *codes[part]]))[1]
        counts.append(np.bincount(group[at], minlength=len(first)).astype(np.int64))
    return np.asarray((counts[0] * counts[1] == counts[2])[group])


def _multivalued(
    columns: _Columns, among: list[int], functional: list[tuple[tuple[int, ...], int]]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the rules X ->> Y that hold over the columns, of up to two attributes a side, without trivial ones.

    A rule is trivial where X determines Y or all the rest. Of Y and its complement the smaller is named. A rule
    whose left side is larger than that of one that holds already is not named again.
    """
    first = group_rows(columns.codes[among])[1]
    codes = np.ascontiguousarray(columns.codes[:, first])
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for size in range(1, WIDEST + 1):
        for left in combinations(among, size):
            others = [a for a in among if a not in left]
            closure = _closure(left, functional)
            open_to = [a for a in others if a not in closure]
            if len(open_to) < 2:
                continue
            part = _whole_groups(codes, list(left))
            for width in range(1, min(WIDEST, len(open_to) // 2) + 1):
                for right in combinations(open_to, width):
                    rest = [a for a in open_to if a not in right]
                    if len(rest) == len(right) and min(rest) < min(right):
                        continue
                    if any(set(x) <= set(left) and set(y) <= set(right) for x, y in found):
                        continue
                    if all(_independent(own, list(left), list(right), rest).all() for own in (codes[:, part], codes)):
                        found.append((left, right))
    return found


def _closure(left: tuple[int, ...], functional: list[tuple[tuple[int, ...], int]]) -> set[int]:
    closure = set(left)
    while True:
        more = {right for own, right in functional if set(own) <= closure} - closure
        if not more:
            return closure
        closure |= more


def _whole_groups(codes: Ints, left: list[int]) -> Ints:
    """Return all rows of some groups: a part of many rows that can refute a rule."""
    if codes.shape[1] <= PART:
        return np.arange(codes.shape[1], dtype=np.int32)
    group, first = group_rows(codes[left])
    sizes = np.bincount(group, minlength=len(first))
    few = np.zeros(len(first), dtype=bool)
    order = np.argsort(-sizes, kind="stable")
    few[order[: max(int(np.searchsorted(np.cumsum(sizes[order]), PART)), 1)]] = True
    return np.flatnonzero(few[group]).astype(np.int32)


# ---------------------------------------------------------------------------------------------- test


@dataclass(frozen=True)
class Group:
    """A group of equal left sides that breaks a rule: its left side, some of its right sides, and its size."""

    left: dict[str, str | None]
    right: list[dict[str, str | None]]
    rights: int
    records: int

    def as_json(self) -> dict[str, Any]:
        """Return the group as plain data."""
        return {"left": self.left, "right": self.right, "right_sides": self.rights, "records": self.records}


def _offending(texts: pl.DataFrame, rule: Dependency, over: Sequence[str]) -> tuple[int, list[Group]]:
    """Return how many left sides break a rule, and the largest of their groups."""
    columns = _Columns(texts)
    number = {name: i for i, name in enumerate(columns.names)}
    left = [number[name] for name in rule.left]
    right = [number[name] for name in rule.right if name not in rule.left]
    rest = [number[name] for name in over if name not in rule.left + rule.right]
    if not right or not columns.rows or (rule.multivalued and not rest):
        return 0, []
    group, first = group_rows(columns.codes[left])
    at = group_rows(np.array([group, *columns.codes[right]]))[1]
    rights = np.bincount(group[at], minlength=len(first))
    if rule.multivalued:
        bad = np.zeros(len(first), dtype=bool)
        bad[group[~_independent(columns.codes, left, right, rest)]] = True
    else:
        bad = rights > 1
    sizes = np.bincount(group, minlength=len(first))
    chosen = np.flatnonzero(bad)
    keys = texts.select(rule.left).fill_null("")[first[chosen].tolist()] if len(chosen) else None
    places = (
        []
        if keys is None
        else keys.with_columns(pl.Series("\0size", -sizes[chosen]))
        .select(pl.arg_sort_by("\0size", *rule.left))
        .to_series()
        .to_list()
    )
    found = []
    names = [columns.names[a] for a in right]
    for g in chosen[places][:SHOWN].tolist():
        seen = texts.select(names)[np.flatnonzero(group == g).tolist()].unique().sort(names)
        found.append(
            Group(texts.select(rule.left).row(int(first[g]), named=True), seen.head(VALUES).to_dicts(),
                  seen.height, int(sizes[g]))
        )  # fmt: skip
    return len(chosen), found


def multiset_dependency(frame: Any, left: Sequence[str], right: Sequence[str], k: int) -> MultisetDependency:
    """Test the k-multiset dependency X →k Y (seed 003, definition 7): every Y seen with an X is seen k times with it.

    ``frame`` is a pandas, Polars or PyArrow table; missing is a value of its own. The answer is true where it holds,
    and says where it does not.
    """
    source = from_frame(frame)
    names = [*left, *(name for name in right if name not in left)]
    _check_names(source, names)
    if isinstance(left, str) or isinstance(right, str) or k < 1 or not names:
        raise PolicyError('sides are lists of attributes and k is at least 1, as in (["zip"], ["city"], 5).')
    texts = pl.DataFrame({name: source.texts(name) for name in names})
    counted = texts.group_by(names).len("\0records").filter(pl.col("\0records") < k).sort("\0records", *names)
    places = counted.rename({"\0records": "records"}) if "records" not in names else counted
    return MultisetDependency(tuple(left), tuple(right), k, counted.height, places.head(100).to_dicts())


@dataclass(frozen=True)
class MultisetDependency:
    """Whether X →k Y holds; ``broken`` counts pairs of an X and a Y that occur too seldom, ``groups`` lists some."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    k: int
    broken: int
    groups: list[dict[str, Any]]

    @property
    def holds(self) -> bool:
        """Whether no pair occurs too seldom."""
        return self.broken == 0

    def __bool__(self) -> bool:
        return self.holds


# ---------------------------------------------------------------------------------------------- tell


def _check_names(source: Source, names: Sequence[str]) -> None:
    for name in names:
        if name not in source.frame.columns:
            hint = did_you_mean(name, source.frame.columns)
            raise DataError(f"{source.name} has no column {name!r}{hint or '; check the name.'}")


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
    table: Source,
    policy: Policy | None,
    chosen: Sequence[str] | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> dict[str, Any]:
    """Return the rules that hold in a table, and how the declared ones of a policy stand.

    With a policy, columns that are never released are left out, and so are rows that show `*` alone.
    """
    if policy is None:
        names = list(table.frame.columns)
        missing: tuple[str, ...] = ()
    else:
        names = [name for name in policy.released if name in table.frame.columns]
        missing = policy.data.missing
    if chosen is not None:
        _check_names(table, chosen)
        barred = [name for name in chosen if name not in names]
        if barred:
            raise PolicyError(f"{listing(barred)} cannot be looked at: the policy never releases it.")
    texts = pl.DataFrame({name: _told(table.texts(name), missing) for name in names})
    declared = [] if policy is None else _declared(texts, policy, table.name)
    if policy is not None and texts.height:
        quasi = [name for name in policy.quasi_identifiers if name in names]
        texts = texts.filter(~pl.all_horizontal(pl.col(quasi).eq_missing(pl.lit(STAR)))) if quasi else texts
    looked_at = list(chosen) if chosen is not None else names
    left_out = looked_at[MOST_COLUMNS:]
    looked_at = looked_at[:MOST_COLUMNS]
    progress("looking for rules")
    columns = _Columns(texts.select(looked_at))
    constant = [a for a in range(len(looked_at)) if columns.rows and columns.groups((a,)) == 1]
    among = [a for a in range(len(looked_at)) if a not in constant] if columns.rows > 1 else []
    functional = _functional(columns, among)
    spread = [a for a in among if policy is None or looked_at[a] in policy.quasi_identifiers]
    multivalued = _multivalued(columns, spread, functional) if spread else []

    def rule(left: tuple[int, ...], right: tuple[int, ...], arrow: str) -> dict[str, Any]:
        sides = [looked_at[a] for a in left], [looked_at[a] for a in right]
        return {"rule": f"{', '.join(sides[0])} {arrow} {', '.join(sides[1])}", "left": sides[0], "right": sides[1]}

    return {
        "data": table.name,
        "records": texts.height,
        "columns": looked_at,
        "left_out": left_out,
        "constant": [looked_at[a] for a in constant],
        "declared": declared,
        "functional": [
            rule(left, (right,), "->") | {"key": columns.groups(left) == columns.rows} for left, right in functional
        ],
        "multivalued": [rule(left, right, "->>") for left, right in multivalued],
    }


def _told(texts: pl.Series, missing: tuple[str, ...]) -> pl.Series:
    """Return a column with everything that means missing as null; a star of a release stays one."""
    absent = [text for text in missing if text != STAR]
    if not absent:
        return texts
    frame = texts.to_frame("text")
    return frame.select(pl.when(pl.col("text").is_in(absent)).then(None).otherwise(pl.col("text")).alias(texts.name))[
        texts.name
    ]


def _declared(texts: pl.DataFrame, policy: Policy, name: str) -> list[dict[str, Any]]:
    absent = [n for rule in policy.dependencies for n in rule.left + rule.right if n not in texts.columns]
    if absent:
        raise DataError(f"{name} lacks {listing(absent)}, which a dependency names.")
    quasi = [n for n in policy.quasi_identifiers if n in texts.columns]
    shown = texts.filter(~pl.all_horizontal(pl.col(quasi).eq_missing(pl.lit(STAR)))) if quasi else texts
    found = []
    for rule in policy.dependencies:
        broken, groups = _offending(shown, rule, quasi)
        found.append(
            {
                "rule": rule.rule,
                "kind": "multivalued" if rule.multivalued else "functional",
                "holds": broken == 0,
                "broken": broken,
                "groups": [group.as_json() for group in groups],
                "kept": how_kept(rule, policy),
            }
        )
    return found
