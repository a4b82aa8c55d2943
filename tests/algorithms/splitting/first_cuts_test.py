"""Cuts found from counts alone are Mondrian's own: parts solved one by one show what the whole table shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kveil
from battery import cases_for, honours
from kveil.algorithms.component import table_of_component
from kveil.algorithms.registry import find
from kveil.algorithms.settle import settle
from kveil.algorithms.splitting.cutting import cut
from kveil.algorithms.splitting.first_cuts import LEFT_OUT, LeafSpans, PartCuts, bounded_attributes
from kveil.algorithms.splitting.mondrian import mondrian, split_part
from kveil.algorithms.splitting.planning import (
    LimitGroups,
    Plan,
    check_parts,
    counted_values,
    plan_division,
    plan_mondrian,
)
from kveil.algorithms.splitting.span_counts import SPAN_COUNT, count_limits, count_spans, packs_of_parts, smallest_rows
from kveil.algorithms.stars import nothing_left
from kveil.errors import Refused, Unmeetable
from kveil.files import Source
from kveil.frames import from_frame
from kveil.policy.components import components
from kveil.table.encode import encode, encode_some, encode_values, encoded_columns
from kveil.table.table import Table
from kveil.table.tuples import some_rows
from kveil.words import count
from small_people import people, policy_of
from strategies import examples, placed


class Batches:
    """Counts a table batch by batch, as machines would that hold one each."""

    def __init__(self, table: Table, number: int, *, divided: bool) -> None:
        self.names = counted_values(table, divided=divided)
        self.bounded = bounded_attributes(table)
        rows = np.arange(table.rows, dtype=np.int32)
        self.batches = [some_rows(table, own.astype(np.int32)) for own in np.array_split(rows, number) if len(own)]

    def limits(self) -> pl.DataFrame:
        return added_up([count_limits(batch, self.names, self.bounded) for batch in self.batches])

    def spans(self, cuts: PartCuts, parts: Sequence[int]) -> pl.DataFrame:
        return added_up([count_spans(batch, self.names, cuts, parts) for batch in self.batches])


def added_up(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).group_by(pl.exclude(SPAN_COUNT)).agg(pl.col(SPAN_COUNT).sum())


def bare(source: Source, policy: kveil.Policy) -> Table:
    """A table as it is known before any of its rows is encoded: from the different values of its columns."""

    def values() -> object:
        for name in encoded_columns(policy):
            column = source.frame.select(name).group_by(name).len().sort(name)
            yield name, Source(source.name, column.select(name), "frame"), column["len"].cast(pl.Int64).to_numpy()

    return encode_values(values(), policy, source.name)  # type: ignore[arg-type]


def by_parts(source: Source, policy: kveil.Policy, most: int, batches: int) -> list[tuple[int, tuple[str, ...]]] | None:
    """What every row shows, and its number; None where the whole table would have to be looked at."""
    whole = bare(source, policy)
    table = encode_some(source, whole)
    check_parts(policy)
    counter = Batches(table, batches, divided=False)
    limits = LimitGroups.counted(whole, counter, divided=False)
    plans = plan_mondrian(limits, counter, most, by_gain=by_gain(policy))
    shown: dict[int, dict[str, str]] = {}
    for number, plan in enumerate(plans):
        part = plan.cut_table.cuts.part_of(LeafSpans.of(table))
        assert set(part.tolist()) - {LEFT_OUT} <= set(plan.cut_table.parts)
        for place in plan.cut_table.parts:
            rows = np.flatnonzero(part == place).astype(np.int32)
            own = table_of_component(some_rows(table, rows), number)
            solution = split_part(own, plan.whole_table, by_gain=by_gain(policy))
            if nothing_left(own, solution.shown, {}).any():
                return None
            for name, column in zip(own.names, solution.shown, strict=True):
                for at, row in enumerate(rows.tolist()):
                    shown.setdefault(row, {})[name] = column.labels[column.codes[at]]
    return sorted((row, tuple(labels[name] for name in table.names)) for row, labels in shown.items())


def by_gain(policy: kveil.Policy) -> bool:
    return bool(policy.algorithm.options.get("choose") == "gain")


def as_a_whole(source: Source, policy: kveil.Policy) -> list[tuple[int, tuple[str, ...]]]:
    table = encode(source, policy)
    search = find("mondrian").search()
    options = search.options.read(policy.algorithm.options, "")
    solution = settle(table, mondrian(table, options, np.random.default_rng(0)), "mondrian")
    kept = np.flatnonzero(~solution.suppressed_anywhere).tolist()
    return [(row, tuple(column.labels[column.codes[row]] for column in solution.shown)) for row in kept]


@given(
    data=st.data(),
    most=st.integers(1, 12),
    batches=st.integers(1, 3),
    choose=st.sampled_from(["widest", "gain"]),
)
@examples(150)
def test_parts_of_a_table_show_what_the_whole_table_shows(
    data: st.DataObject, most: int, batches: int, choose: str
) -> None:
    algorithm = find("mondrian")
    with placed(data.draw(cases_for(algorithm, order="sorted"))) as here:
        assume(honours(algorithm, here.policy))
        chosen = here.policy.algorithm.model_copy(update={"name": "mondrian", "options": {"choose": choose}})
        policy = here.policy.model_copy(update={"algorithm": chosen})
        source = from_frame(here.case.frame())
        try:
            parts = by_parts(source, policy, most, batches)
        except Refused as error:
            event(f"refused: {str(error)[:40]}")
            return
        except Unmeetable as error:
            with pytest.raises(Unmeetable, match=f"^{re.escape(str(error))}$"):
                as_a_whole(source, policy)
            return
        if parts is None:
            event("stars")
            return
        event(f"solved, {count(len(components(policy)), 'component')}")
        assert parts == as_a_whole(source, policy)


def packs_of(table: Table, plan: Plan, most: int) -> list[list[int]]:
    part = plan.cut_table.cuts.part_of(LeafSpans.of(table))
    pack = packs_of_parts(plan.cut_table.records, smallest_rows(table, part).filter(pl.col("part") >= 0), most)
    rows: dict[int, list[int]] = {}
    for row, own in enumerate(part.tolist()):
        if own != LEFT_OUT:
            rows.setdefault(pack[own], []).append(row)
    return [rows[number] for number in sorted(rows)]


@given(data=st.data(), most=st.integers(1, 12), batches=st.integers(1, 3))
@examples(60)
def test_a_division_found_from_counts_is_that_of_a_table_in_memory(
    data: st.DataObject, most: int, batches: int
) -> None:
    algorithm = find("k-member")
    with placed(data.draw(cases_for(algorithm, order="sorted"))) as here:
        assume(honours(algorithm, here.policy))
        source, policy = from_frame(here.case.frame()), here.policy
        whole = bare(source, policy)
        table = encode_some(source, whole)
        counter = Batches(table, batches, divided=True)
        limits = LimitGroups.counted(whole, counter, divided=True)
        try:
            plan = plan_division(limits, counter, most, "k-member")
        except Unmeetable as error:
            with pytest.raises(Unmeetable, match=f"^{re.escape(str(error))}$"):
                cut(encode(source, policy), most, "k-member")
            return
        expected = cut(encode(source, policy), most, "k-member")
        assert packs_of(table, plan, most) == [rows.tolist() for rows in expected.rows]
        assert plan.left_out == len(expected.left_out)


@pytest.mark.parametrize("model", ["l-diversity, sensitive: illness, l: 2", "t-closeness, sensitive: illness, t: 0.4"])
def test_many_parts_of_a_larger_table_show_what_it_shows(model: str) -> None:
    policy = policy_of(f"[{{model: k-anonymity, k: 4}}, {{model: {model}}}]", algorithm="mondrian")
    source = from_frame(people(400)[Random(1).sample(range(400), 400)])
    parts = by_parts(source, policy, 20, 3)
    assert parts is not None
    assert parts == as_a_whole(source, policy)
