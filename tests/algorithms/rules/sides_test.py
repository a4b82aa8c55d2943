"""Rules kept by what their attributes show are kept as on the rows themselves."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.declared_rules import rules_of
from kveil.algorithms.registry import find
from kveil.algorithms.rules.keep import keep_rules
from kveil.algorithms.rules.sides import check_sides, climb_sides, rule_attributes
from kveil.algorithms.stars import star_cells
from kveil.errors import Refused, Unmeetable
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from planted_rules import planted
from small_people import people, policy_of
from strategies import placed, seeds

MONDRIAN = find("mondrian")


def solved(table: Table) -> Solution:
    options = MONDRIAN.options.read({}, "")
    return MONDRIAN.solve(table, options, np.random.default_rng(0))


def by_sides(table: Table, solution: Solution) -> tuple[dict[str, list[str]], int]:
    """What released rows show once rules hold, reckoned on their different tuples, each once."""
    names = rule_attributes(table.policy)
    here = np.flatnonzero(~solution.suppressed_anywhere)
    others = [solution.shown[p] for p, name in enumerate(table.names) if name not in names]
    alone = star_cells(others, table.rows)[here]
    shown = {name: solution.shown[table.names.index(name)] for name in names}
    laid = pl.DataFrame({**{name: shown[name].codes[here] for name in names}, "alone": alone})
    tuples = laid.group_by(laid.columns).len("times")
    given = {
        name: Shown(tuples[name].to_numpy(), own.labels, own.ncp, own.il, own.is_star) for name, own in shown.items()
    }
    climbed = climb_sides(table, given, tuples["alone"].to_numpy(), tuples["times"].cast(pl.Int64).to_numpy())
    texts = [pl.Series(f"{n} now", [own.labels[c] for c in own.codes.tolist()]) for n, own in climbed.shown.items()]
    after = laid.join(tuples.with_columns(texts), on=laid.columns, how="left", maintain_order="left")
    return {name: after[f"{name} now"].to_list() for name in names}, climbed.records


def on_rows(table: Table, solution: Solution) -> tuple[dict[str, list[str]], int] | None:
    """The same by the pass over all rows; None where somebody is suppressed for it."""
    kept = keep_rules(table, solution, rules_of(table, multivalued=False))
    if not np.array_equal(kept.suppressed, solution.suppressed):
        return None
    here = np.flatnonzero(~kept.suppressed_anywhere)
    shown = {}
    for name in rule_attributes(table.policy):
        own = kept.shown[table.names.index(name)]
        shown[name] = [own.labels[code] for code in own.codes[here].tolist()]
    return shown, kept.details.get("association", {"records": 0})["records"]


def test_tuples_climb_as_rows_do() -> None:
    compared = climbing = 0
    for seed in seeds(0, 80):
        with placed(planted(MONDRIAN, Random(seed), individuals=False)) as here:
            policy = here.policy
            try:
                check_sides(policy)
                table = encode(from_frame(here.case.frame()), policy)
                solution = solved(table)
            except (Refused, Unmeetable):
                continue
            try:
                told = by_sides(table, solution)
            except Refused:  # somebody would show nothing any more
                continue
            assert told == on_rows(table, solution)
            compared += 1
            climbing += told[1] > 0
    assert compared > 2
    assert climbing


def test_a_larger_table_climbs_as_its_rows_do() -> None:
    frame = people(400).with_columns(city=pl.col("age").cast(pl.Int64) // 7 % 3)
    frame = frame.with_columns(pl.col("city").replace_strict({0: "Oslo", 1: "Bergen", 2: "Rome"}))
    policy = policy_of("[{model: k-anonymity, k: 4}]", "dependencies: ['age -> city']", algorithm="mondrian")
    table = encode(from_frame(frame), policy)
    solution = solved(table)
    told = by_sides(table, solution)
    assert told[1] > 0
    assert told == on_rows(table, solution)


@pytest.mark.parametrize("rule", ["city ->> sex", "city -> illness", "illness -> city"])
def test_rules_that_need_whole_rows_are_refused(rule: str) -> None:
    with pytest.raises(Refused, match="keeps dependencies of records alone"):
        check_sides(policy_of("[{model: k-anonymity, k: 2}]", f"dependencies: ['{rule}']"))


def test_a_policy_without_rules_has_nothing_to_refuse() -> None:
    check_sides(policy_of("[{model: k-anonymity, k: 2}]"))
