"""Right sides climb until every declared rule holds, and groups climb along where a model would lose them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.algorithms.component import components_of
from kveil.algorithms.declared_rules import DeclaredRule
from kveil.algorithms.rules.joinable import JoinableNodes, JoinableSpans, heaviest
from kveil.algorithms.stars import NOTHING_LEFT, count_as_suppressed, without_part
from kveil.arrays import Bools, Ints
from kveil.errors import Unmeetable
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.models.fingerprints import sharers_of_fingerprints
from kveil.models.groups import AtLeastK, Pairs
from kveil.models.of_policy import counted_names
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.components import most_suppressed, sensitive_starred_with
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree
from kveil.words import count

RULES = "a dependency could not be kept with it"
MODELS = "too rare once a dependency was kept"


def let_sides_climb(table: Table, solution: Solution, rules: list[DeclaredRule]) -> Solution:
    """Return a solution after right sides have climbed; raise Unmeetable beyond the suppression limit."""
    work = ClimbingRows(table, solution, rules)
    while True:
        work.climb()
        lost = work.lost()
        if not lost.any():
            return work.solution(solution)
        if not work.unite(lost):
            work.give_up(lost.any(axis=0), MODELS)


def beyond_rules(table: Table, total: int, allowed: int, *, why: str = "") -> Unmeetable:
    """Return the error about so many records, or people, whom no release with the rules can keep."""
    return Unmeetable(
        f"the declared dependencies cannot be kept: {count(total, table.noun)} of {table.records:,} would have to be "
        f"suppressed and the limit allows {allowed:,}{why}; raise suppression.limit, move boundaries up, or take rules "
        "out."
    )


class ClimbingRows:
    """Distinct released rows while right sides climb."""

    def __init__(self, table: Table, solution: Solution, rules: list[DeclaredRule]) -> None:
        self.table = table
        self.rules = rules
        self.quasi = len(table.names)
        self.values = [
            JoinableNodes(tree)
            if isinstance(tree, Tree)
            else JoinableSpans(tree, solution.shown[a], table.policy.attributes[table.names[a]].widest)
            for a, tree in enumerate(table.trees)
        ]
        self.component = [table.component_of[name] for name in table.names]
        gone = solution.suppressed
        if table.whole_rows:
            gone = np.repeat(gone.any(axis=0)[None, :], len(gone), axis=0)
        cells = [
            np.where(gone[self.component[a]], self.values[a].star, shown.codes)
            for a, shown in enumerate(solution.shown)
        ]
        # Fingerprints are shared across classes, so they stand beside what a row shows; each has its own k.
        prints = sharers_of_fingerprints(table.policy)
        codes = [table.sensitive[name].code for name in prints]
        others = [
            np.where(starred, own.max(initial=-1) + 1, own)
            for own, starred in zip(table.others.values(), self._starred_others(gone), strict=True)
        ]
        whole = np.array([*cells, *others, *gone, *codes], dtype=np.int32)
        self.member, first = group_rows(whole)
        distinct = np.ascontiguousarray(whole[: len(whole) - len(codes), first])
        self.prints = [
            (code[first], len(table.sensitive[name].values), k)
            for code, (name, k) in zip(codes, prints.items(), strict=True)
        ]
        self.cells = distinct[: self.quasi + len(table.others)]
        self.gone = distinct[self.quasi + len(table.others) :].astype(bool)
        self.starred_others = self._starred_others(self.gone)
        self.weights = table.tally(self.member, len(first)).astype(np.int64)
        self.dead = self.gone.all(axis=0)
        self.before = self.cells.copy()
        self.reasons: dict[str, Bools] = {}
        used = counted_names(table.policy)
        self.pairs = {
            name: Pairs(*table.pairs(name, self.member, len(first)), table.sensitive[name].known)
            for name in sorted(used)
        }
        # Groups of an implied constraint are larger: where those of the others cannot be kept, they may still be.
        self.components = components_of(table, with_implied=True)
        constraints = [(part.number, own.positions) for part in self.components for own in part.constraints]
        self.component_of_constraint = [component for component, _ in constraints]
        rights = {rule.right for rule in rules if rule.right < self.quasi}
        self.climbing = [sorted(rights.intersection(over)) for _, over in constraints]
        self.classes = [
            group_rows(self.before[over])[0] if climbing else np.zeros(0, dtype=np.int32)
            for (_, over), climbing in zip(constraints, self.climbing, strict=True)
        ]
        self.united = [np.zeros(len(first) if climbing else 0, dtype=bool) for climbing in self.climbing]

    def _starred_others(self, gone: Bools) -> list[Bools]:
        """Return, per column that is released as is, the rows whose cell shows `*` since they are starred beside it."""
        beside = sensitive_starred_with(self.table.policy)
        hides = self.table.persons is None and self.table.policy.suppression.show == "star"
        return [
            gone[np.array([hides and name in names for names in beside], dtype=bool)].any(axis=0)
            for name in self.table.others
        ]

    def stars(self, attributes: list[int]) -> Bools:
        """Return the rows that show `*` in all the attributes."""
        return np.asarray(np.logical_and.reduce([self.values[a].is_star(self.cells[a]) for a in attributes]))

    def nothing_left(self) -> Bools:
        """Return the rows that show `*` in every quasi-identifier and count as suppressed."""
        return count_as_suppressed(self.table, self.stars(list(range(self.quasi))))

    def climb(self) -> None:
        """Let right sides climb until all rules hold on the rows that take part."""
        changed = True
        while changed:
            changed = False
            for rule in self.rules:
                changed |= self._keep(rule)
            for c, component in enumerate(self.component_of_constraint):
                if self.united[c].any():
                    for right in self.climbing[c]:
                        inside = self.united[c][self.classes[c]] & ~self.gone[component]
                        changed |= self._cover(np.flatnonzero(inside & self._taking_part()), self.classes[c], right)

    def is_sensitive(self, column: int) -> bool:
        """Tell whether what a rule names is a sensitive attribute."""
        name = list(self.table.others)[column - self.quasi] if column >= self.quasi else self.table.names[column]
        return self.table.policy.attributes[name].role == "sensitive"

    def _taking_part(self) -> Bools:
        return np.asarray(~self.dead & ~self.nothing_left())

    def _keep(self, rule: DeclaredRule) -> bool:
        rows = np.flatnonzero(self._taking_part())
        if not len(rows):
            return False
        group = np.zeros(len(self.dead), dtype=np.int32)
        group[rows] = group_rows(self.cells[list(rule.left)][:, rows])[0]
        return self._cover(rows, group, rule.right, left=rule.left, strict=rule.strict)

    def _cover(self, rows: Ints, group: Ints, right: int, *, left: tuple[int, ...] = (), strict: bool = True) -> bool:
        """Give every group of rows one right side; return whether anything changed."""
        cells = self.cells[right]
        key, first = group_rows(np.array([group[rows], cells[rows]]))
        of_pair = group[rows[first]]
        several = np.bincount(of_pair, minlength=1)[of_pair] > 1
        if not several.any():
            return False
        # A cell that suppression starred cannot be told from others: its row goes altogether.
        hidden = [self.gone[self.component[right]]] if right < self.quasi else []
        hidden += [self.starred_others[column - self.quasi] for column in (*left, right) if column >= self.quasi]
        starred = several[key] & np.logical_or.reduce(hidden)[rows]
        if starred.any():
            if strict:
                self.give_up_rows(rows[starred], RULES)
                return True
            several &= ~np.isin(of_pair, of_pair[key[starred]])
        chosen = np.flatnonzero(several)
        numbers, of_chosen = np.unique(of_pair[chosen], return_inverse=True)
        of_chosen = of_chosen.reshape(-1).astype(np.int32)
        code = cells[rows[first[chosen]]]
        weight = np.bincount(key, weights=self.weights[rows], minlength=len(first)).astype(np.int64)[chosen]
        if right >= self.quasi and self.is_sensitive(right):
            fits = np.zeros(len(chosen), dtype=bool)  # what somebody has must not decide who goes: all of a group do
        elif right >= self.quasi:
            fits = heaviest(code, of_chosen, len(numbers), weight)
        else:
            fits = self.values[right].together(code, of_chosen, len(numbers), weight)
        place = np.full(len(first), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        if not fits.all():
            if strict:
                self.give_up_rows(rows[(place[key] >= 0) & ~fits[place[key]]], RULES)
                return True
            whole = np.bincount(of_chosen, weights=~fits, minlength=len(numbers)) == 0
            if not whole.any():
                return False
            place[chosen[~whole[of_chosen]]] = -1
        joined = self.values[right].join(code, of_chosen, len(numbers))
        moving = place[key] >= 0
        cells[rows[moving]] = joined[of_chosen[place[key[moving]]]]
        return True

    def lost(self) -> Bools:
        """Return who lies outside every component's maximal anonymous subset, of those who are in (component × row)."""
        table = self.table
        alive = ~self.dead & ~self.gone
        outside = np.zeros_like(self.gone)
        requirements = []
        for part, inside in zip(self.components, alive, strict=True):
            counted = inside & ~without_part(table, self.stars(part.positions))
            requirements.append(part.requirements(self.cells[part.positions], taking_part=counted))
        if table.whole_rows:
            together = [requirement for own in requirements for requirement in own]
            together += [Requirement(AtLeastK(k), code, number) for code, number, k in self.prints]
            everyone = ~self.dead
            kept = maximal_anonymous_subset(together, self.weights, self.pairs, everyone)
            outside[:] = everyone & ~kept
            return outside
        for c, own in enumerate(requirements):
            outside[c] = alive[c] & ~maximal_anonymous_subset(own, self.weights, self.pairs, alive[c])
        return outside

    def unite(self, lost: Bools) -> bool:
        """Let the groups that lost rows had before climb as one; return whether there is any that does not yet."""
        found = False
        for c, component in enumerate(self.component_of_constraint):
            if self.climbing[c]:
                mine = np.unique(self.classes[c][lost[component]])
                new = mine[~self.united[c][mine]]
                self.united[c][new] = True
                found |= len(new) > 0
        return found

    def give_up(self, rows: Bools, reason: str) -> None:
        """Suppress rows in every component."""
        self.give_up_rows(np.flatnonzero(rows), reason)

    def give_up_rows(self, rows: Ints, reason: str) -> None:
        """Suppress rows, given by number, in every component."""
        told = self.reasons.setdefault(reason, np.zeros(len(self.dead), dtype=bool))
        told[rows[~self.gone[:, rows].any(axis=0)]] = True
        self.dead[rows] = True

    def solution(self, solution: Solution) -> Solution:
        """Return what the rows show now; beyond the limit, raise Unmeetable."""
        table = self.table
        hidden = ~self.dead & self.nothing_left()
        changed = self.cells[: self.quasi] != self.before[: self.quasi]
        if not changed.any() and not self.reasons and not (hidden & ~self.gone.any(axis=0)).any():
            return solution
        suppressed = self.gone | self.dead | hidden
        allowed = most_suppressed(table.policy, table.records)
        total = int(self.weights[suppressed.any(axis=0)].sum())
        if total > allowed:
            raise self._unmeetable(total, allowed)
        reasons = dict(solution.reasons)
        new = hidden & ~self.gone.any(axis=0)
        for reason, rows in {**self.reasons, NOTHING_LEFT: new}.items():
            if rows.any():
                own = np.flatnonzero(rows[self.member]).astype(np.int32)
                reasons[reason] = np.union1d(reasons[reason], own).astype(np.int32) if reason in reasons else own
        climbed = int(self.weights[changed.any(axis=0) & ~suppressed.any(axis=0)].sum())
        return replace(
            solution,
            shown=tuple(values.shown(self.cells[a][self.member]) for a, values in enumerate(self.values)),
            suppressed=suppressed[:, self.member],
            reasons=reasons,
            details={**solution.details, "association": {"records": climbed}},
            alike=self.member,
        )

    def _unmeetable(self, total: int, allowed: int) -> Unmeetable:
        fixed = [rule.text for rule in self.rules if rule.right >= self.quasi]
        why = (
            f"; the right side of {fixed[0]} is released as is and cannot be generalized"
            if fixed and RULES in self.reasons
            else ""
        )
        return beyond_rules(self.table, total, allowed, why=why)
