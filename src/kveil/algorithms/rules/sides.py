"""Rules kept in a table whose rows lie elsewhere: by the different tuples that the rules' attributes show.

Where every model is over all attributes of the rules, rows of one group have the same left sides, and climb alike: no
group falls apart, and nothing has to be known of the rows but what they show there. Where a right side could not climb
freely, or a rule named other columns, models and the suppression limit would have a say in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kveil.algorithms.algorithm import TAKE_IT_WHOLE
from kveil.algorithms.declared_rules import rules_of
from kveil.algorithms.rules.climb import ClimbingRows
from kveil.arrays import Bools, Longs
from kveil.errors import Refused
from kveil.policy.model import Policy
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table

NOTHING_ELSE = "nothing else"  # whether a row shows `*` in all attributes that no rule names


def rule_attributes(policy: Policy) -> list[str]:
    """Return the quasi-identifiers that rules name, in policy order."""
    named = {name for rule in policy.dependencies for name in rule.left + rule.right}
    return [name for name in policy.quasi_identifiers if name in named]


def check_sides(policy: Policy) -> None:
    """Raise Refused where rules cannot be kept by what their attributes show, whatever the table has."""
    if not policy.dependencies:
        return
    names = set(rule_attributes(policy))
    named = {name for rule in policy.dependencies for name in rule.left + rule.right}
    bounded = any(policy.attributes[name].boundary for rule in policy.dependencies for name in rule.right)
    many = any(rule.multivalued for rule in policy.dependencies)
    alone = all(names <= set(policy.attributes_of(model)) for model in policy.privacy)
    if policy.individual_column is not None or many or bounded or named != names or not alone:
        raise Refused(
            "a table by parts keeps dependencies of records alone, functional ones between quasi-identifiers that all "
            f"models are over, with no boundary on the right; {TAKE_IT_WHOLE}"
        )


@dataclass(frozen=True)
class ClimbedSides:
    """What tuples show once rules hold, by attribute, and how many records show something else than before."""

    shown: Mapping[str, Shown]
    records: int


def climb_sides(whole: Table, shown: Mapping[str, Shown], nothing_else: Bools, times: Longs) -> ClimbedSides:
    """Let right sides climb until all rules hold, given what different tuples show in the attributes of the rules.

    ``nothing_else`` tells which tuples are of records that show `*` everywhere else, ``times`` how many records each
    is shown by. Raises Refused where somebody would show nothing any more.
    """
    policy, names = whole.policy, tuple(shown)
    others = set(whole.names).difference(names)
    kept = {name: own for name, own in policy.attributes.items() if name not in others}
    leaves = np.zeros((len(names), len(times)), dtype=np.int32)
    table = replace(
        whole,
        policy=policy.model_copy(update={"attributes": kept, "privacy": []}),
        names=names,
        trees=tuple(whole.trees[position] for position in whole.positions(names)),
        leaves=leaves,
        low=leaves,
        high=leaves,
        sensitive={},
        others={NOTHING_ELSE: nothing_else.astype(np.int32)},
        fractions={},
        times=times,
    )
    before = Solution(tuple(shown.values()), np.zeros((len(table.components), len(times)), dtype=bool))
    work = _Sides(table, before, rules_of(table, multivalued=False))
    work.climb()
    if work.dead.any() or work.nothing_left().any():
        raise Refused(
            "keeping the dependencies, some records would show nothing but `*`, and what becomes of them is decided on "
            f"the whole table; {TAKE_IT_WHOLE}"
        )
    return ClimbedSides(
        {name: work.values[a].shown(work.cells[a][work.member]) for a, name in enumerate(names)},
        int(work.weights[(work.cells != work.before).any(axis=0)].sum()),
    )


class _Sides(ClimbingRows):
    """Different tuples while right sides climb; they stand for records that may show something elsewhere."""

    def nothing_left(self) -> Bools:
        """Return the tuples of records that show `*` in every quasi-identifier."""
        return np.asarray(self.stars(list(range(self.quasi))) & (self.cells[self.quasi] == 1))
