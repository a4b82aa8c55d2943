"""The bound under models over sensitive values: never above the optimum, found by trying every grouping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import log
from pathlib import Path

import polars as pl
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kveil
from kveil.policy.model import Policy
from naive.bound import PlainTree, lowest
from strategies import examples

Items = tuple[str, ...]
TREE = PlainTree([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")])
POLICY = """
kveil: 1
attributes:
  place: {role: quasi-identifier, hierarchy: {tree: {"*": {ab: [a, b], cd: [c, d]}}}}
  illness: {role: sensitive}
  %s
privacy: [{model: %s}]
"""
RECORDS = "note: {role: insensitive}"
PEOPLE = "who: {role: individual}"


def values_of(group: Sequence[Items]) -> Counter[str]:
    return Counter(value for items in group for value in set(items) if value)


def entropy(counts: Counter[str]) -> float:
    total = sum(counts.values())
    return -sum(c / total * log(c / total) for c in counts.values()) if total else 0.0


def recursive(counts: Counter[str]) -> bool:
    ordered = sorted(counts.values(), reverse=True)
    return bool(ordered) and ordered[0] < 3 * sum(ordered[1:])


MODELS: dict[str, tuple[str, Callable[[Sequence[Items]], bool]]] = {
    "distinct": ("l-diversity, l: 3, sensitive: illness", lambda g: len(values_of(g)) >= 3),
    "p": ("p-sensitive, p: 2, sensitive: illness", lambda g: len(values_of(g)) >= 2),
    "entropy": (
        "l-diversity, l: 1.8, variant: entropy, sensitive: illness",
        lambda g: entropy(values_of(g)) >= log(1.8) - 1e-9,
    ),
    "recursive": ("l-diversity, l: 2, c: 3, variant: recursive, sensitive: illness", lambda g: recursive(values_of(g))),
    "frequency": (
        "l-diversity, l: 2, variant: frequency, sensitive: illness",
        lambda g: 2 * max(values_of(g).values(), default=0) <= len(g),
    ),
}


def groupings(rows: list[int]) -> Iterator[list[list[int]]]:
    """Every way to group some rows."""
    if not rows:
        yield []
        return
    for rest in groupings(rows[1:]):
        yield [[rows[0]], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], [rows[0], *rest[i]], *rest[i + 1 :]]


def optimum(rows: Sequence[tuple[str, Items]], holds: Callable[[Sequence[Items]], bool]) -> Fraction | None:
    """The least mean cost of a row over all groupings in which every group holds."""

    def cost(group: list[int]) -> Fraction:
        (label,) = lowest([TREE], [(rows[i][0],) for i in group])
        return TREE.cost(label) * len(group)

    good = [g for g in groupings(list(range(len(rows)))) if all(holds([rows[i][1] for i in group]) for group in g)]
    return min((sum(map(cost, g), Fraction(0)) / len(rows) for g in good), default=None)


def policy(model: str, kind: str) -> Policy:
    return Policy.parse(POLICY % (kind, MODELS[model][0]), "policy.yaml", Path())


@pytest.mark.parametrize("model", MODELS)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["flu", "cold", "gout", ""])), min_size=3, max_size=7)
)
@examples(25)
def test_the_bound_of_records_is_at_most_the_optimum(model: str, rows: list[tuple[str, str]]) -> None:
    frame = pl.DataFrame({"place": [r[0] for r in rows], "illness": [r[1] for r in rows], "note": ["n"] * len(rows)})
    best = optimum([(place, (value,)) for place, value in rows], MODELS[model][1])
    least = kveil.bound(frame, policy(model, RECORDS)).at_least
    if best is not None:
        assert least <= float(best) + 1e-12
    event("above 0" if least else "0")


@pytest.mark.parametrize("model", MODELS)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sets(st.sampled_from(["flu", "cold", "gout"]), min_size=1)),
        min_size=2,
        max_size=6,
    )
)
@examples(25)
def test_the_bound_of_people_is_at_most_the_optimum(model: str, people: list[tuple[str, set[str]]]) -> None:
    records = [(place, item, str(i)) for i, (place, items) in enumerate(people) for item in sorted(items)]
    frame = pl.DataFrame(records, schema=["place", "illness", "who"], orient="row")
    best = optimum([(place, tuple(items)) for place, items in people], MODELS[model][1])
    least = kveil.bound(frame, policy(model, PEOPLE)).at_least
    if best is not None:
        assert least <= float(best) + 1e-12
    event("above 0" if least else "0")


def test_two_people_with_two_values_each_are_three_values_already() -> None:
    records = [(place, item, who) for who, place in zip("1234", "aacc", strict=True) for item in ("flu", f"item {who}")]
    frame = pl.DataFrame(records, schema=["place", "illness", "who"], orient="row")
    assert kveil.bound(frame, policy("distinct", PEOPLE)).at_least == 0


def test_somebody_without_a_value_is_in_no_values_share() -> None:
    frame = pl.DataFrame({"place": ["a", "b", "c"], "illness": ["", "", ""], "note": ["n"] * 3})
    assert kveil.bound(frame, policy("frequency", RECORDS)).at_least == 0


def test_the_tail_of_a_recursive_model_takes_a_second_member() -> None:
    frame = pl.DataFrame({"place": ["a", "b", "c"], "illness": ["flu", "cold", "gout"], "note": ["n"] * 3})
    assert kveil.bound(frame, policy("recursive", RECORDS)).at_least > 0
