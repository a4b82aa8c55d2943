"""Sets of items: coverage, shared sets and shared combinations, each beside looking at all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy
from kveil.verifier import fingerprints
from kveil.verifier.fingerprints import check_kkm, check_kl, compare_items, one_set_is_too_frequent
from kveil.verifier.rows import Rows, original_rows, release_rows

TEXT = """
kveil: 1
attributes:
  who: {role: individual}
  a: {role: quasi-identifier}
  s: {role: sensitive, hierarchy: {tree: {"*": {X: [x1, x2], Y: [y1, y2]}}}}
privacy: [%s]
"""
KL = "{model: kl-diversity, sensitive: s, k: 2, l: 1.5}"
KKM = "{model: k-km-anonymity, sensitive: s, k: 2, m: %d}"


def drawn(seed: int, model: str) -> tuple[Policy, Rows, list[tuple[str, frozenset[str]]], list[int]]:
    """Persons with a class and a set of items each; every row stands for some of them."""
    random = Random(seed)
    policy = Policy.parse(TEXT % model, "policy.yaml", Path())
    people = [
        (random.choice("uv"), frozenset(random.sample(["x1", "x2", "y1"], random.randint(0, 3))))
        for _ in range(random.randint(2, 8))
    ]
    frame = pl.DataFrame({"a": [own for own, _ in people], "s": ["|".join(sorted(items)) for _, items in people]})
    times = [random.randint(1, 2) for _ in people]
    rows = release_rows(table_of(frame, policy), policy)
    return policy, replace(rows, times=np.array(times)), people, times


@pytest.mark.parametrize("seed", range(25))
def test_a_fingerprint_is_shared_by_as_many_as_have_the_set(seed: int) -> None:
    policy, rows, people, times = drawn(seed, KL)
    (model,) = policy.privacy
    sets: Counter[frozenset[str]] = Counter()
    pairs: Counter[tuple[str, frozenset[str]]] = Counter()
    size: Counter[str] = Counter()
    for (own, items), number in zip(people, times, strict=True):
        sets[items] += number
        pairs[own, items] += number
        size[own] += number
    found = check_kl(model, policy, rows, np.ones(len(people), dtype=bool))
    assert found.extra == {"fingerprints": len(sets), "shared": min(sets.values())}
    assert found.worst == pytest.approx(min(size[own] / number for (own, _), number in pairs.items()))
    bad = {own for (own, _), number in pairs.items() if number * Fraction(3, 2) > size[own]}
    rare = [number for number in sets.values() if number < 2]
    assert len(found.findings) == bool(rare) + bool(bad)
    everyone = max(sets.values()) * Fraction(3, 2) > sum(times)
    assert one_set_is_too_frequent(model, rows, np.ones(len(people), dtype=bool)) == everyone


@pytest.mark.parametrize("at_once", [4_000_000, 1])
@pytest.mark.parametrize("seed", range(25))
def test_combinations_are_shared_by_as_many_as_have_all_their_items(
    seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "MOST_AT_ONCE", at_once)
    m = 1 + seed % 3
    policy, rows, people, times = drawn(seed, KKM % m)
    (model,) = policy.privacy
    support: Counter[tuple[str, tuple[str, ...]]] = Counter()
    size: Counter[str] = Counter()
    for (own, items), number in zip(people, times, strict=True):
        size[own] += number
        for length in range(1, m + 1):
            for combination in combinations(sorted(items), length):
                support[own, combination] += number
    found = check_kkm(model, policy, rows, np.ones(len(people), dtype=bool))
    assert found.groups == len(size)
    assert found.worst == min(support.values(), default=min(size.values()))
    rare = [key for key, number in support.items() if number < 2]
    told = [finding for finding in found.findings if "combination" in finding]
    assert bool(told) == bool(rare)
    if rare:
        where = len({own for own, _ in rare})
        assert f"in {where} group{'s' * (where > 1)}: {len(rare)} combination" in told[0]


@pytest.mark.parametrize(
    ("shown", "uncovered", "unfounded"),
    [("x1|y1", 0, 0), ("X|y1", 0, 0), ("*", 0, 0), ("X", 1, 0), ("X|Y|x2", 0, 1), ("x2", 2, 1)],
)
def test_every_item_is_covered_and_every_label_covers_one(shown: str, uncovered: int, unfounded: int) -> None:
    policy = Policy.parse(TEXT % KL, "policy.yaml", Path())
    before = original_rows(
        table_of(pl.DataFrame({"who": ["p", "p", "q"], "a": ["u"] * 3, "s": ["x1", "y1", "x2"]}), policy), policy
    )
    after = release_rows(table_of(pl.DataFrame({"a": ["u", "u"], "s": ["x2", shown]}), policy), policy)
    found = compare_items(policy, "s", before, after, np.array([1, 0]))
    assert (found.uncovered, found.unfounded) == (uncovered, unfounded)
