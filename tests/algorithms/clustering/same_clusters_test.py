"""Where sizes alone decide and nobody is left out, pk-clustering is k-member, and auto runs one of them."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from kveil.algorithms.registry import able, find, finds_the_same
from kveil.choose import attempt, candidates
from kveil.engines.solver import Solved, solve
from kveil.errors import Unmeetable
from kveil.frames import from_frame
from kveil.progress import silent
from kveil.table.encode import encode
from kveil.table.solution import Solution
from kveil.table.table import Table
from strategies import Case, cases, examples, placed
from support import QUASI, make_policy

TREE = {"tree": {"*": {"a": {"b": ["0", "1"], "c": ["2", "3"]}, "d": {"e": ["4", "5"], "f": ["6", "7"]}}}}


def tried(name: str, table: Table) -> Solved | None:
    try:
        return solve(find(name), table, {})
    except Unmeetable:
        return None


def cells(solution: Solution) -> list[list[str]]:
    return [[column.labels[code] for code in column.codes.tolist()] for column in solution.shown]


def check_same(table: Table) -> bool:
    """Compare what both find where the first one says that it can be compared; tell whether it does."""
    policy = table.policy
    names = [name for name in ("k-member", "greedy-cka") if able(find(name), policy)]
    plain = False
    for name in names:
        found = tried(name, table)
        if found is None or not found.solution.plain:
            continue
        plain = True
        other = tried("pk-clustering", table)
        assert other is not None
        assert cells(other.solution) == cells(found.solution)
        assert not other.solution.suppressed.any()
        assert other.losses == found.losses
        assert finds_the_same(find("pk-clustering"), find(name), found.solution, policy)
    return plain


@given(case=cases(many=False, with_ranges=True, max_width=True))
@examples(150)
def test_pk_clustering_finds_what_plain_clusters_are(case: Case) -> None:
    with placed(case) as here:
        if here.case.records:
            check_same(encode(from_frame(here.case.frame()), here.policy))


def table_of(seed: int, rows: int, k: int, **more: object) -> Table:
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame({name: draw.binomial(7, 0.4, rows).astype(str).tolist() for name in "xyz"})
    attributes = {name: {"role": QUASI, "hierarchy": TREE} for name in "xyz"}
    return encode(from_frame(frame), make_policy(attributes, k=k, **more))


@given(st.integers(0, 10**6), st.integers(40, 400), st.sampled_from([2, 3, 7]))
@examples(20)
def test_also_where_many_rows_are_equal(seed: int, rows: int, k: int) -> None:
    check_same(table_of(seed, rows, k))


def test_clusters_of_stars_are_not_plain_and_few_equal_rows_are() -> None:
    assert check_same(table_of(1, 400, 2))
    frame = pl.DataFrame({"x": ["0", "7", "0", "7"]})
    assert not check_same(encode(from_frame(frame), make_policy({"x": {"role": QUASI, "hierarchy": TREE}}, k=4)))


def test_auto_runs_one_of_them_and_says_so() -> None:
    table = table_of(1, 400, 2, algorithm="auto")
    found = attempt(table, candidates(table.policy), silent)
    told = {own.algorithm: own for own in found.tried}
    assert told["pk-clustering"].reason == "was not run: it finds what k-member finds"
    assert told["pk-clustering"].loss == told["k-member"].loss
