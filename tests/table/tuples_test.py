"""Tuples with counts: what an algorithm finds on them, in any order, is what it finds on the records."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kveil
from battery import cases_for, honours
from kveil.algorithms.algorithm import DEPENDENCIES, Algorithm
from kveil.algorithms.bound.bound import lower_bound
from kveil.algorithms.registry import ALGORITHMS
from kveil.arrays import Ints
from kveil.engines.solver import Solved, solve
from kveil.frames import from_frame
from kveil.policy.components import largest_k
from kveil.policy.model import Policy
from kveil.progress import silent
from kveil.table.encode import encode
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tuples import expand_rows, in_tuples
from mixed_tuples import shuffled_tuples
from planted_rules import planted
from strategies import Case, examples, placed, seeds
from support import make_policy

ON_TUPLES = [algorithm for algorithm in ALGORITHMS if algorithm.on_tuples]
each = pytest.mark.parametrize("algorithm", ON_TUPLES, ids=lambda algorithm: algorithm.name)


def table_of(case: Case, policy: Policy) -> Table | None:
    """The table of a case, None where it has fewer records than a run asks for before it begins."""
    table = encode(from_frame(case.frame()), policy)
    return table if table.records >= largest_k(policy) else None


def solved(algorithm: Algorithm, table: Table) -> Solved | str:
    try:
        return solve(algorithm, table, {}, progress=silent)
    except kveil.Unmeetable as error:
        return str(error)


def released(solution: Solution) -> list[list[str]]:
    """What every row shows in every attribute; a suppressed row shows anything."""
    gone = solution.suppressed_anywhere
    return [
        ["" if out else shown.labels[code] for code, out in zip(shown.codes.tolist(), gone.tolist(), strict=True)]
        for shown in solution.shown
    ]


def reasons(solution: Solution) -> dict[str, list[int]]:
    return {reason: np.unique(rows).tolist() for reason, rows in solution.reasons.items() if len(rows)}


def finds_the_same(algorithm: Algorithm, table: Table, seed: int) -> str:
    """Compare what is found on records and on tuples; return what kind of case it was."""
    tuples = shuffled_tuples(table, seed)
    assert tuples.table.records == table.records
    by_records, by_tuples = solved(algorithm, table), solved(algorithm, tuples.table)
    if isinstance(by_records, str) or isinstance(by_tuples, str):
        assert by_records == by_tuples
        return "unmeetable"
    spread = by_tuples.solution.spread(tuples.of_row)
    assert released(spread) == released(by_records.solution)
    assert np.array_equal(spread.suppressed, by_records.solution.suppressed)
    assert reasons(spread) == reasons(by_records.solution)
    assert by_tuples.solution.details == by_records.solution.details
    assert by_tuples.losses == by_records.losses
    return "several records in a tuple" if tuples.table.rows < table.rows else "every record is a tuple"


@each
def test_an_algorithm_finds_on_tuples_what_it_finds_on_records(algorithm: Algorithm) -> None:
    # `flow/steps/make_release_test` compares 200 whole runs per algorithm every day.
    @given(data=st.data())
    @examples(200)
    def same(data: st.DataObject) -> None:
        with placed(data.draw(cases_for(algorithm))) as here:
            assume(honours(algorithm, here.policy))
            table = table_of(here.case, here.policy)
            assume(table is not None)
            assert table is not None
            event(finds_the_same(algorithm, table, data.draw(st.integers(0, 99))))

    same()


@pytest.mark.parametrize("individuals", [False, True], ids=["records", "individuals"])
@each
def test_rules_are_kept_on_tuples_as_on_records(algorithm: Algorithm, individuals: bool) -> None:
    assert DEPENDENCIES in algorithm.honours
    kinds = set()
    for seed in seeds(0, 30):
        with placed(planted(algorithm, Random(seed), individuals=individuals)) as here:
            table = table_of(here.case, here.policy) if honours(algorithm, here.policy) else None
            if table is not None:
                kinds.add(finds_the_same(algorithm, table, seed))
    assert "several records in a tuple" in kinds


def few_values(rows: int = 120) -> Table:
    random = Random(5)
    frame = {name: [random.choice("abc") for _ in range(rows)] for name in "xyzs"}
    attributes = {name: {"role": "quasi-identifier"} for name in "xyz"} | {"s": {"role": "sensitive"}}
    model = {"model": "l-diversity", "sensitive": "s", "l": 2}
    return encode(from_frame(pl.DataFrame(frame)), make_policy(attributes, k=5, privacy=[model]))


def test_the_bound_of_tuples_is_that_of_records() -> None:
    table = few_values()
    tuples = shuffled_tuples(table, 1).table
    assert tuples.rows < table.rows
    long = 3600.0  # seconds that no machine needs for so few records: one that runs out of time bounds less
    assert lower_bound(tuples, silent, seconds=long) == lower_bound(table, silent, seconds=long)


def test_tuples_expanded_are_the_records_again() -> None:
    table = few_values()
    tuples = in_tuples(table).table
    again = expand_rows(tuples).table
    assert again.times is None
    assert again.rows == again.records == table.records

    def rows_of(own: Table) -> list[tuple[int, ...]]:
        columns: list[Ints] = [*own.leaves, own.sensitive["s"].code]
        return sorted(zip(*(column.tolist() for column in columns), strict=True))

    assert rows_of(again) == rows_of(table)
    assert np.array_equal(in_tuples(again).table.weights.sum(), table.records)


def test_counts_are_of_records_not_of_rows() -> None:
    tuples = in_tuples(few_values()).table
    everyone = np.ones(tuples.rows, dtype=bool)
    assert tuples.count(everyone) == tuples.records == 120
    assert tuples.tally(tuples.leaves[0], 3).sum() == 120
    some = tuples.leaves[0] == 1
    assert tuples.tally(tuples.leaves[0], 3, chosen=some).tolist() == [0, tuples.count(some), 0]
