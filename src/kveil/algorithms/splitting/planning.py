"""Into which parts a table falls that no machine holds, and what each part must know of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kveil.algorithms.algorithm import TAKE_IT_WHOLE
from kveil.algorithms.component import SearchComponent, components_of, everyone_as_one
from kveil.algorithms.limits import is_bounded
from kveil.algorithms.neighbourhoods import looks_at_values
from kveil.algorithms.splitting.cutting import component_to_cut
from kveil.algorithms.splitting.first_cuts import (
    LEFT_OUT,
    CountedSpans,
    FirstCuts,
    PartCuts,
    StartGroups,
    bounded_attributes,
    limits_of,
    start_groups,
)
from kveil.algorithms.splitting.mondrian import insides
from kveil.algorithms.splitting.parts import Splitter
from kveil.algorithms.splitting.span_counts import (
    ANY,
    CODE,
    CONFLICT_COUNT,
    KEY,
    RECORD_COUNT,
    SPAN_COUNT,
    SPAN_VALUE,
    CutTable,
    PartSize,
    SpanCounter,
    cut_down,
)
from kveil.algorithms.suppression import beyond_limit
from kveil.arrays import Bools, Longs
from kveil.errors import Refused
from kveil.models.groups import Pairs
from kveil.policy.attributes import MaxWidth
from kveil.policy.components import most_suppressed
from kveil.policy.model import Policy
from kveil.table.persons import disagreeing_records
from kveil.table.table import Table


@dataclass(frozen=True)
class Plan:
    """A table cut into parts, and what is known of it as a whole.

    ``whole_table`` has how many records have each value that models count, of those that parts hold; ``left_out`` is
    how many records no part can hold, ``why`` the reason.
    """

    cut_table: CutTable
    whole_table: Mapping[str, Longs]
    records: int
    left_out: int
    why: str


def check_parts(policy: Policy) -> None:
    """Raise Refused where parts of a table cannot be solved on several machines, whatever the table has."""
    wide = any(isinstance(policy.attributes[name].boundary, MaxWidth) for name in policy.quasi_identifiers)
    if wide and policy.individual_column is not None:
        raise Refused(f"a table of people by parts has no boundary max_width; {TAKE_IT_WHOLE}")


def plan_mondrian(limits: LimitGroups, counter: SpanCounter, most: int, *, by_gain: bool) -> list[Plan]:
    """Cut a table as Mondrian does, every component by itself, until parts have at most so many rows.

    Raises Refused where Mondrian would look at the whole table again, Unmeetable where too many are left out.
    """
    if limits.crowded():
        raise Refused(
            "so many share a sensitive value that neighbourhoods have to be left out, which are looked for in the "
            f"whole table; {TAKE_IT_WHOLE}"
        )
    everyone = limits.counts.weights > 0
    nobody = np.zeros_like(everyone)
    alive, may_split = insides(limits.splitters, everyone, [nobody for _ in limits.splitters])
    if not all(may_split):
        raise Refused(
            f"some models are about fewer attributes than others, and hold only for the whole table; {TAKE_IT_WHOLE}"
        )
    table = limits.splitters[0].table
    if len(alive) > 1 and not all(own.all() for own in alive) and not _gone_as_a_whole(table):
        raise Refused(
            "records would be shown as stars in some attributes and not in others, which is decided on the whole "
            f"table; take suppression.show drop; or {TAKE_IT_WHOLE}"
        )
    plans = [limits.plan("mondrian", own, alive) for own in range(len(alive))]
    for component, plan in zip(limits.components, plans, strict=True):
        first = FirstCuts(component, plan.whole_table, by_gain)
        cut_down(first, plan.cut_table, counter, lambda size: size.rows > most, limits.names)
    return plans


def _gone_as_a_whole(table: Table) -> bool:
    """Tell whether nothing is shown of whoever is suppressed, so that nobody can be taken back in one component."""
    return table.policy.suppression.show == "drop" or table.persons is not None


def plan_division(limits: LimitGroups, counter: SpanCounter, most: int, name: str) -> Plan:
    """Cut a table as `cutting.cut` does, into parts of at most so many records.

    A table that holds only as a whole is one part. Raises Unmeetable where too many are left out.
    """
    (splitter,), (component,) = limits.splitters, limits.components
    out, may_split = splitter.outside(limits.counts.weights > 0)
    if limits.records <= most or not may_split or out.all():
        return limits.uncut()
    plan = limits.plan(name, 0, [~out])

    def too_large(size: PartSize) -> bool:
        return size.records > most

    cut_down(FirstCuts(component, plan.whole_table), plan.cut_table, counter, too_large, limits.names)
    return plan


@dataclass(frozen=True)
class LimitGroups:
    """The groups of records that share all their limits, with what was counted of each.

    The table of ``components`` has its trees and no rows, that of ``splitters`` a row per group. ``names`` are the
    sensitive attributes that are counted.
    """

    components: list[SearchComponent]
    names: Sequence[str]
    keys: Longs
    counts: CountedSpans
    splitters: list[Splitter]
    disagreeing: Mapping[int, int]  # people whose records disagree, by the place of an attribute, and on `ANY` of them

    @classmethod
    def counted(cls, table: Table, counter: SpanCounter, *, divided: bool) -> LimitGroups:
        """Count the groups of a table, which has its trees and no rows."""
        components, names = _components(table, divided=divided), counted_values(table, divided=divided)
        frame = counter.limits()
        groups = (
            frame.filter(pl.col(SPAN_VALUE) == RECORD_COUNT).select(KEY, SPAN_COUNT).sort(KEY).with_row_index("group")
        )
        keys = np.array(groups[KEY].to_list(), dtype=np.int64).reshape(groups.height, -1).T
        keys = keys[: len(bounded_attributes(table))]
        pairs = {}
        numbered = frame.join(groups.select(KEY, "group"), on=KEY, how="left").sort("group", CODE)
        for number, name in enumerate(names):
            own = numbered.filter(pl.col(SPAN_VALUE) == number)
            at, codes = own["group"].to_numpy().astype(np.int32), own[CODE].to_numpy().astype(np.int32)
            pairs[name] = Pairs(at, codes, own[SPAN_COUNT].to_numpy().astype(np.int64), table.sensitive[name].known)
        counts = CountedSpans(np.arange(groups.height), groups[SPAN_COUNT].to_numpy().astype(np.int64), pairs)
        conflicts = frame.filter(pl.col(SPAN_VALUE) == CONFLICT_COUNT).select(CODE, SPAN_COUNT)
        splitters = [start_groups(component, keys, counts) for component in components]
        return cls(components, names, keys, counts, splitters, dict(conflicts.iter_rows()))

    def check_conflicts(self, where: str) -> None:
        """Raise DataError where records of one person disagree, and the policy does not allow it."""
        table = self.components[0].table
        if self.disagreeing and table.policy.individual.conflicts == "error":
            names = [name for a, name in enumerate(table.names) if a in self.disagreeing]
            raise disagreeing_records(where, names, self.disagreeing[ANY])

    @property
    def records(self) -> int:
        """How many records, or individuals, the table has."""
        return int(self.counts.weights.sum())

    @property
    def table(self) -> Table:
        """The groups as a table, which tells whose limits no release can meet."""
        own = self.splitters[0].table
        pairs = {name: (pairs.tuples, pairs.codes) for name, pairs in self.counts.pairs.items()}
        values = {
            name: replace(sensitive, row=pairs[name][0], code=pairs[name][1]) if name in pairs else sensitive
            for name, sensitive in own.sensitive.items()
        }
        return own.changed(sensitive=values)

    def crowded(self) -> bool:
        """Tell whether Mondrian would leave out neighbourhoods, since the table as a whole breaks a model."""
        table = self.splitters[0].table
        bounded = any(is_bounded(table, position) for position in range(len(table.trees)))
        if not most_suppressed(table.policy, self.records) or bounded or table.persons is not None:
            return False
        everyone = everyone_as_one(self.counts.weights, self.counts.pairs)
        models = [model for splitter in self.splitters for model in splitter.models]
        return looks_at_values(table) and not all(model.good(everyone).all() for model in models)

    def plan(self, name: str, number: int, alive: Sequence[Bools]) -> Plan:
        """Return a plan of one component with groups of equal limits as parts, but those that can never hold.

        ``alive`` has, per component, the groups that are not left out.
        """
        splitter, out = self.splitters[number], ~alive[number]
        gone = ~np.logical_and.reduce(list(alive))
        table = splitter.table
        lost, allowed = int(self.counts.weights[gone].sum()), most_suppressed(table.policy, self.records)
        if lost > allowed:
            raise beyond_limit(table, name, lost, allowed)
        group = splitter.mam.group
        part = np.where(out, LEFT_OUT, group).astype(np.int32)
        sizes = np.bincount(group, weights=np.where(out, 0, self.counts.weights)).astype(np.int64)
        records = {number: size for number, size in enumerate(sizes.tolist()) if size}
        whole = {}
        for own, pairs in splitter.pairs.items():
            inside = ~out[pairs.tuples]
            counts = np.bincount(pairs.codes[inside], weights=pairs.counts[inside], minlength=pairs.known + 1)
            whole[own] = counts.astype(np.int64)
        start = StartGroups(bounded_attributes(table), self.keys, part)
        cuts = PartCuts(limits_of(table), start, splitter.mam.number)
        return Plan(CutTable(cuts, records), whole, self.records, lost, splitter.why)

    def uncut(self) -> Plan:
        """Return a plan with the whole table as its only part."""
        table = self.splitters[0].table
        start = StartGroups((), np.zeros((0, 1), dtype=np.int64), np.zeros(1, dtype=np.int32))
        return Plan(CutTable(PartCuts(limits_of(table), start, 1), {0: self.records}), {}, self.records, 0, "")


def counted_values(table: Table, *, divided: bool) -> Sequence[str]:
    """Return the sensitive attributes that are counted to cut a table."""
    return sorted({name for component in _components(table, divided=divided) for name in component.sensitive})


def _components(table: Table, *, divided: bool) -> list[SearchComponent]:
    return [component_to_cut(table)] if divided else components_of(table)
