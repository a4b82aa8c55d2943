"""Plans of a table that is counted only: what is refused, what is left out, what stays whole."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.splitting.first_cuts import LEFT_OUT, LeafSpans, bounded_attributes
from kveil.algorithms.splitting.planning import LimitGroups, check_parts, counted_values, plan_division, plan_mondrian
from kveil.algorithms.splitting.span_counts import count_limits, count_spans
from kveil.errors import DataError, Refused, Unmeetable
from kveil.table.table import Table
from support import make_policy

AGES = {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}}


class Counter:
    """Counts a table that is all there."""

    def __init__(self, table: Table, *, divided: bool) -> None:
        self.table, self.names = table, counted_values(table, divided=divided)

    def limits(self) -> object:
        return count_limits(self.table, self.names, bounded_attributes(self.table))

    def spans(self, cuts: object, parts: object) -> object:
        return count_spans(self.table, self.names, cuts, parts)


def planned(table: Table, most: int, *, divided: bool = True) -> tuple[object, LimitGroups]:
    counter = Counter(table, divided=divided)
    limits = LimitGroups.counted(table, counter, divided=divided)
    if divided:
        return plan_division(limits, counter, most, "k-member"), limits
    return plan_mondrian(limits, counter, most, by_gain=False), limits


def table(ages: list[int], limit: float = 0.0, **others: object) -> Table:
    age = {**AGES, **others.pop("age", {})}
    return coded({"age": [str(own) for own in ages]}, {"age": age}, limit=limit, **others)


@pytest.mark.parametrize("most", [5, 20])
def test_a_table_is_cut_into_parts_of_few_records(most: int) -> None:
    own = table(np.random.default_rng(0).integers(0, 99, 60).tolist())
    plan, limits = planned(own, most)
    part = plan.cut_table.cuts.part_of(LeafSpans.of(own))
    sizes = dict(zip(*(column.tolist() for column in np.unique(part, return_counts=True)), strict=True))
    assert sizes == {number: plan.cut_table.records[number] for number in plan.cut_table.parts}
    assert max(sizes.values()) <= most
    assert (plan.records, plan.left_out, limits.records) == (60, 0, 60)
    (mondrian,), _ = planned(own, most, divided=False)
    assert max(mondrian.cut_table.records[number] for number in mondrian.cut_table.parts) <= most


def test_a_table_that_is_small_enough_stays_whole() -> None:
    plan, _ = planned(table([1, 2, 3]), 10)
    assert plan.cut_table.records == {0: 3}
    assert plan.cut_table.parts == [0]


def test_limits_that_can_never_hold_are_left_out_or_too_many() -> None:
    ages, bounded = [1, 2, 3, 4, 5, 6, 95], {"boundary": {"level": 1}}
    plan, _ = planned(table(ages, 0.2, age=bounded), 3)
    assert plan.left_out == 1
    part = plan.cut_table.cuts.part_of(LeafSpans.of(table(ages, 0.2, age=bounded)))
    assert part.tolist()[6] == LEFT_OUT
    with pytest.raises(Unmeetable, match="1 record of 7"):
        planned(table(ages, 0.1, age=bounded), 3)


def test_neighbourhoods_are_looked_for_in_a_whole_table_only() -> None:
    model = {"model": "alpha-k", "sensitive": "s", "alpha": 0.5, "k": 1}
    columns = {"age": ["1", "2", "3"], "s": ["x", "x", "y"]}
    crowded = coded(columns, {"age": AGES, "s": "sensitive"}, privacy=[model], limit=0.5)
    with pytest.raises(Refused, match="neighbourhoods have to be left out"):
        planned(crowded, 1, divided=False)
    enough = coded({**columns, "s": ["x", "z", "y"]}, {"age": AGES, "s": "sensitive"}, privacy=[model], limit=0.5)
    planned(enough, 1, divided=False)


def test_people_whose_records_disagree_are_told_where_the_policy_asks() -> None:
    columns = {"who": ["p", "p", "q"], "age": ["1", "2", "3"]}
    attributes = {"who": "individual", "age": AGES}
    own = coded(columns, attributes, individual={"conflicts": "generalize"}, k=1)
    _, limits = planned(own, 10)
    limits.check_conflicts("here")  # the policy allows it
    strict = own.changed(policy=make_policy(attributes, k=1, algorithm="auto"))
    _, limits = planned(strict, 10)
    with pytest.raises(DataError, match=r"here: .*1 person"):
        limits.check_conflicts("here")


def test_widths_of_individuals_are_not_cut_by_parts() -> None:
    wide = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 9]}}, "boundary": {"max_width": 2}}
    check_parts(make_policy({"n": wide}, algorithm="auto"))
    with pytest.raises(Refused, match="max_width"):
        check_parts(make_policy({"n": wide, "who": "individual"}, algorithm="auto"))
