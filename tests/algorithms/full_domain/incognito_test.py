"""Incognito agrees with brute force over the whole lattice, and breaks the rule that the paper's table 2 breaks."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import polars as pl
import pytest
from hypothesis import assume, event, given

import kveil
import places
from battery import close, solve
from kveil.algorithms.algorithm import GROUP_MODELS
from kveil.algorithms.full_domain import incognito
from kveil.algorithms.registry import find
from kveil.frames import from_frame
from kveil.table.encode import encode
from naive import release as naive
from strategies import Case, cases, examples, placed

GOLDEN = places.GOLDEN / "kmsd"


def at_level(hierarchy: naive.Hierarchy, leaf: str, level: int) -> str:
    """A leaf's ancestor at depth at most height − level, not beyond its limit."""
    way = hierarchy.ways[leaf]
    height = max(len(own) for own in hierarchy.ways.values()) - 1
    limit = way.index(hierarchy.limit(leaf))
    return way[min(max(0, len(way) - 1 - (height - level)), limit)]


def brute_force(twin: naive.Policy, rows: list[naive.Row]) -> tuple[Fraction | None, set[tuple[int, ...]]]:
    """The least loss of all nodes that hold, and the minimal ones among them."""
    trees = {name: twin.hierarchy(name, [row[name] for row in rows]) for name in twin.quasi}
    assert all(isinstance(tree, naive.Hierarchy) for tree in trees.values())
    heights = [max(len(way) for way in tree.ways.values()) for tree in trees.values()]  # type: ignore[union-attr]
    assume(prod(heights) <= 150)
    best: Fraction | None = None
    good: list[tuple[int, ...]] = []
    for node in product(*map(range, heights)):
        shown = [
            {
                name: at_level(tree, twin.text(row[name]), level)  # type: ignore[arg-type]
                for (name, tree), level in zip(trees.items(), node, strict=True)
            }
            for row in rows
        ]
        state = naive.standing(twin, rows, shown)
        if len(state.lost) > twin.limit * len(rows):
            continue
        good.append(node)
        released = naive.written_as_released(twin, rows, state.release(twin))
        loss = naive.losses(twin, rows, released, state.suppressed(twin))["ncp"]
        best = loss if best is None else min(best, loss)
    minimal = {
        node
        for node in good
        if not any(other != node and all(x <= y for x, y in zip(other, node, strict=True)) for other in good)
    }
    return best, minimal


def prod(numbers: list[int]) -> int:
    found = 1
    for number in numbers:
        found *= number
    return found


def exact(twin: naive.Policy) -> bool:
    """Whether the records that have to go are told by the models alone: with suppression, not by all of them."""
    several = any(
        model.name in {"alpha-k", "t-closeness"} or model.settings.get("variant", "distinct") != "distinct"
        for model in twin.models
    )
    return not (several and twin.limit > 0)


@given(cases(models=GROUP_MODELS))
@examples(80)
def test_incognito_is_brute_force(case: Case) -> None:
    with placed(case) as here:
        assume(len(case.rows) >= here.twin.largest_k)
        assume(exact(here.twin))
        best, minimal = brute_force(here.twin, case.records)
        result = solve(find("incognito"), here)
        if best is None:
            assert result is None
            return
        assert result is not None
        event("several minimal nodes" if len(minimal) > 1 else "one minimal node")
        assert close(result.account["loss"]["ncp"], best)
        order = [here.twin.quasi.index(name) for name in here.policy.quasi_identifiers]
        found = {
            tuple(node[order.index(i)] for i in range(len(order))) for node in result.account["details"]["minimal"]
        }
        assert found == minimal


@pytest.mark.uncompiled
def test_the_paper_s_table_2() -> None:
    frame = pl.read_csv(GOLDEN / "input.csv", infer_schema=False)
    loaded = kveil.Policy.load(GOLDEN / "policy.yaml")
    result = kveil.anonymize(frame, loaded, algorithm="incognito")
    assert result.account["guarantees"][0]["worst"] >= 2
    with_rule = kveil.Policy.load(GOLDEN / "policy-ag.yaml")
    verdict = kveil.verify(result.data, with_rule)
    assert verdict.dependencies == [{"rule": "Department -> Phone", "holds": False, "broken": 1}]
    assert not verdict
    # The node of table 2: North America and Asia, 021**, Teaching, five digits of the phone.
    assert [1, 0, 2, 2, 2] in result.account["details"]["minimal"]
    # With the rule declared, the pass after climbs what broke it.
    kept = kveil.anonymize(frame, with_rule, algorithm="incognito")
    assert kept.account["dependencies"] == [{"rule": "Department -> Phone", "holds": True}]


def test_a_lattice_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.read_csv(GOLDEN / "input.csv", infer_schema=False)
    loaded = kveil.Policy.load(GOLDEN / "policy.yaml")
    nodes = incognito.lattice_nodes(encode(from_frame(frame), loaded))
    assert nodes == 3 * 2 * 4 * 3 * 5
    monkeypatch.setattr(incognito, "MOST_NODES", nodes - 1)
    with pytest.raises(kveil.Refused, match="datafly"):
        kveil.anonymize(frame, loaded, algorithm="incognito")


def test_auto_leaves_out_what_may_take_very_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kveil.choose.MOST_EFFORT", 1)
    frame = pl.read_csv(GOLDEN / "input.csv", infer_schema=False)
    receipt = kveil.anonymize(frame, kveil.Policy.load(GOLDEN / "policy.yaml"), algorithm="auto").account
    (left_out,) = [tried for tried in receipt["tried"] if tried["algorithm"] == "incognito"]
    assert left_out["solved"] is False
    assert "name it" in left_out["reason"]
