"""Linking with declared dependencies at hand: what follows from what is known, and which rows can still be meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kveil.arrays import Bools, Longs
from kveil.attacker.attacks import LinkingByRules
from kveil.attacker.link import chances, chances_before, knowledge, most_targets
from kveil.attacker.match import CHUNK, Clue, EqualRows, KnownValue, code_column
from kveil.attacker.rate import rate_of
from kveil.attacker.world import World
from kveil.kernels.grouping.members import Members, members_by_group
from kveil.policy.dependencies import Dependency


def closure(names: tuple[str, ...], rules: Sequence[Dependency]) -> tuple[str, ...]:
    """Return everything that follows from some attributes by the rules."""
    known = list(names)
    grown = True
    while grown:
        grown = False
        for rule in rules:
            if set(rule.left) <= set(known) and not set(rule.right) <= set(known):
                known += [name for name in rule.right if name not in known]
                grown = True
    return tuple(known)


@dataclass(frozen=True)
class Narrowed:
    """A clue whose groups can only be what a rule says of what they show on its left.

    The attacker is taken to know the rule itself in full, as everybody knows which city a zip code is in. Its pairs of
    a left and a right side are those of the original: ``rights`` has the value of each pair's right side, -1 where
    nobody is asked for who has it; ``lefts`` the left sides, a clue per attribute.
    """

    clue: Clue
    rights: Longs
    lefts: list[KnownValue]

    @property
    def kinds(self) -> int:
        """How many different values there are."""
        return self.clue.kinds

    @property
    def values(self) -> Longs:
        """The value of each one asked for."""
        return self.clue.values

    @cached_property
    def _pairs(self) -> Members:
        """The pairs of each value, which is their right side."""
        known = np.flatnonzero(self.rights >= 0)
        pairs, starts = members_by_group(self.rights[known], self.kinds)
        return Members(known[pairs], starts)

    def table(self, values: Longs) -> Bools:
        """Return which groups some values fit, and show a left side that goes with them."""
        fits = self.clue.table(values)
        order, starts = self._pairs
        distinct, place = np.unique(values, return_inverse=True)
        possible = np.zeros((len(distinct), fits.shape[1]), dtype=bool)
        step = max(CHUNK // max(fits.shape[1], 1), 1)
        for row, value in enumerate(distinct.tolist()):
            for start in range(starts[value], starts[value + 1], step):
                pairs = order[start : min(start + step, starts[value + 1])]
                allowed = self.lefts[0].table(self.lefts[0].values[pairs])
                for left in self.lefts[1:]:
                    allowed &= left.table(left.values[pairs])
                possible[row] |= allowed.any(axis=0)
        fits &= possible[place.reshape(-1)]
        return fits

    def own(self, values: Longs, groups: Longs) -> Bools:
        """Return for pairs of a value and a group whether they fit."""
        fits = self.clue.own(values, groups)
        order, starts = self._pairs
        for value in np.unique(values).tolist():
            at = np.flatnonzero(values == value)
            possible = np.zeros(len(at), dtype=bool)
            for pair in order[starts[value] : starts[value + 1]].tolist():
                allowed = np.ones(len(at), dtype=bool)
                for left in self.lefts:
                    allowed &= left.own(np.full(len(at), left.values[pair]), groups[at])
                possible |= allowed
            fits[at] &= possible
        return fits


def _narrowed(world: World, rule: Dependency, clue: Clue, right: tuple[str, list[str]], groups: EqualRows) -> Narrowed:
    """Return a clue narrowed by a rule; ``right`` is its right side's attribute with the values that are asked for."""
    name, values = right
    pairs = world.before.select(*rule.left, name).unique()
    position = {text: i for i, text in enumerate(values)}
    rights = np.array([position.get(text, -1) for text in pairs[name].to_list()], dtype=np.int64)
    lefts = []
    for attribute in rule.left:
        column, released = code_column(pairs[attribute]), world.column("after", attribute)
        cover = world.cover(attribute, column.texts, released.texts)
        lefts.append(KnownValue(cover, column.codes, released.codes[groups.first]))
    return Narrowed(clue, rights, lefts)


def refinement(world: World, names: tuple[str, ...]) -> list[LinkingByRules]:
    """Play the prosecutor who also knows the declared dependencies; nothing where they tell nothing more."""
    usable = [
        rule
        for rule in world.policy.dependencies
        if not rule.multivalued and all(name in world.before.columns for name in rule.left + rule.right)
    ]
    wide = closure(names, usable)
    narrowing = [rule for rule in usable if set(rule.right) & set(wide)]
    if not narrowing:
        return []
    columns = tuple(dict.fromkeys([*wide, *(name for rule in narrowing for name in rule.left)]))
    groups = world.equal("after", columns)
    targets = world.sample(most_targets(len(groups.sizes), len(columns)))
    plain, _ = chances(world, knowledge(world, names, targets), world.hidden(names))
    known = knowledge(world, wide, targets, shown=groups)
    clues = list(known.clues)
    for rule in narrowing:
        for right in rule.right:
            if right in wide:
                place = wide.index(right)
                values = world.column("before", right).at(targets).texts
                clues[place] = _narrowed(world, rule, clues[place], (right, values), groups)
    chance, _ = chances(world, replace(known, clues=clues), world.hidden(columns))
    released = world.row_of[targets] >= 0
    return [
        LinkingByRules(
            attack="dependencies",
            attributes=names,
            rules=tuple(rule.rule for rule in narrowing),
            before=rate_of(chances_before(world, wide, targets)),
            without=rate_of(plain[released]),
            after=rate_of(chance[released]),
            promised=world.promises(names),
        )
    ]
