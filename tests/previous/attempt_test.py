"""Releases that hold together with an earlier one, on 500 small tables, against every release there is."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

import kveil
from earlier_releases import past_of, policy_with
from kveil.algorithms.registry import find
from kveil.archive import Archived
from kveil.errors import Unmeetable
from kveil.files import Source
from kveil.policy.components import most_suppressed
from kveil.previous.attempt import attempt_together
from kveil.previous.demands import demands_of
from kveil.previous.earlier_looks import Past
from kveil.progress import silent
from kveil.table.decode import decode
from kveil.table.encode import encode
from naive.together import below

TREES: dict[str, dict[str, Any]] = {
    "one": {"q": {"*": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}},
    "two": {"q": {"*": ["a", "b"]}, "r": {"*": ["x", "y"]}},
}
Row = tuple[str, ...]


@dataclass(frozen=True)
class Small:
    """A table of a few people, what an earlier release showed of some of them, and a policy."""

    policy: kveil.Policy
    rows: dict[str, Row]  # person -> quasi-identifiers and sensitive value
    before: dict[str, tuple[Row, str]]
    k: int
    least: int


def _ways(trees: dict[str, Any], name: str, value: str) -> list[str]:
    (below,) = trees[name].values()
    if isinstance(below, list):
        return [value, "*"]
    return [value, next(label for label, leaves in below.items() if value in leaves), "*"]


def _leaves(tree: dict[str, Any]) -> list[str]:
    (below,) = tree.values()
    return below if isinstance(below, list) else [leaf for leaves in below.values() for leaf in leaves]


def _looks(trees: dict[str, Any], row: Row) -> list[Row]:
    """Return what a record may show; nothing but stars is not to be shown."""
    ways = [_ways(trees, name, value) for name, value in zip(trees, row, strict=False)]
    return [look for look in itertools.product(*ways) if any(label != "*" for label in look)]


def _valid(shown: list[dict[str, tuple[Row, str]]], small: Small) -> bool:
    return below(shown, small.k, small.least) == (0, 0)


def _small(rng: random.Random, trees: dict[str, Any]) -> Small | None:
    """Return a random table with a random earlier release that keeps its promises, None where that was not found."""
    k, least = 2, rng.choice([1, 2])
    everyone = {f"p{i}": (*(rng.choice(_leaves(tree)) for tree in trees.values()), rng.choice("uvw")) for i in range(7)}
    now = {p: row for p, row in everyone.items() if rng.random() < 0.75}
    while len(now) > 5:
        now.popitem()
    policy = kveil.Policy.model_validate(
        {
            "attributes": {
                **{name: {"role": "quasi-identifier", "hierarchy": {"tree": tree}} for name, tree in trees.items()},
                "s": {"role": "sensitive"},
            },
            "privacy": [{"model": "k-anonymity", "k": k}, {"model": "l-diversity", "sensitive": "s", "l": least}],
            "suppression": {"limit": rng.choice([0, 0.2, 0.5, 1])},
        }
    )
    for _ in range(200):
        shown = {p: (rng.choice(_looks(trees, row)), row[-1]) for p, row in everyone.items() if rng.random() < 0.8}
        small = Small(policy, now, shown, k, least)
        if _valid([shown], small):
            if rng.random() < 0.2 and now:  # a correction: the value, or where somebody belongs
                person = rng.choice(sorted(now))
                now[person] = (*now[person][:-1], rng.choice("uvw"))
            return small
    return None


def _past(small: Small, names: list[str]) -> tuple[Any, Any, Source]:
    source = Source("t", pl.DataFrame(list(small.rows.values()), schema=[*names, "s"], orient="row"), "frame")
    table = encode(source, small.policy)
    shown = pl.DataFrame([(*look, value) for look, value in small.before.values()], schema=[*names, "s"], orient="row")
    people = pl.Series(list(small.before), dtype=pl.String)
    earlier = Archived(
        "r", 1, "", small.policy, Source("r", shown, "frame"), people, receipt={}, account={}, release_sha256=""
    )
    hashes = pl.Series(list(small.rows), dtype=pl.String)
    return table, Past.of(demands_of(small.policy, [earlier]), hashes, [earlier], dict(table.sensitive)), source


def _released(small: Small, names: list[str], algorithm: str) -> dict[str, tuple[Row, str]] | None:
    """Return what kveil shows of whom, None where it says that it cannot be done."""
    table, past, source = _past(small, names)
    policy = small.policy.model_copy(update={"algorithm": kveil.AlgorithmChoice(name=algorithm)})
    table = table.changed(policy=policy)
    try:
        solved = attempt_together(table, past, [find(algorithm)], silent).attempt
    except Unmeetable:
        return None
    release = decode(source, table, solved.solution)
    frame, people = release.frame(source), list(small.rows)
    return {
        people[row]: (look[:-1], look[-1]) for row, look in zip(release.rows.tolist(), frame.iter_rows(), strict=True)
    }


def _loss(trees: dict[str, Any], small: Small, shown: dict[str, tuple[Row, str]]) -> float:
    total = 0.0
    for person, row in small.rows.items():
        for name, value in zip(trees, row, strict=False):
            leaves = len(_leaves(trees[name]))
            label = shown[person][0][list(trees).index(name)] if person in shown else "*"
            total += 0 if label == value else 1 if label == "*" else 2 / leaves
    return total


def _all_releases(trees: dict[str, Any], small: Small) -> list[dict[str, tuple[Row, str]]]:
    """Return every release of the table that, together with the earlier one, keeps every promise within the limit."""
    people = list(small.rows)
    most = most_suppressed(small.policy, len(people))
    options = [[None, *_looks(trees, small.rows[person])] for person in people]
    found = []
    for looks in itertools.product(*options):
        if looks.count(None) <= most:
            shown = {p: (look, small.rows[p][-1]) for p, look in zip(people, looks, strict=True) if look is not None}
            if _valid([small.before, shown], small):
                found.append(shown)
    return found


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("algorithm", ["least-loss", "mondrian"])
def test_small_tables_against_every_release_there_is(kind: str, algorithm: str) -> None:
    trees, names = TREES[kind], list(TREES[kind])
    rng = random.Random(f"{kind} {algorithm}")
    solved = missed = tables = 0
    more = 0.0
    while tables < 125:
        small = _small(rng, trees)
        if small is None or len(small.rows) < 2:
            continue
        tables += 1
        possible = _all_releases(trees, small)
        shown = _released(small, names, algorithm)
        if shown is None:
            missed += bool(possible)
            continue
        solved += 1
        assert shown in possible, (small, shown)
        more += _loss(trees, small, shown) - min(_loss(trees, small, other) for other in possible)
    # A search may miss what only trying everything finds; it rarely does, and loses little more than it must.
    assert solved > 40
    assert missed <= 5
    assert more / solved < 0.3


def _farthest(table: Any, past: Past, out: set[int], texts: list[str]) -> float:
    """Return how far the values of any group are from those of everybody who is shown."""
    values = [table.sensitive["s"].values[code] for code in table.sensitive["s"].code.tolist()]
    groups: dict[tuple[int, str], list[str]] = {}
    for row, text in enumerate(texts):
        if row not in out:
            groups.setdefault((int(past.looks[0][row]), text), []).append(values[row])
    everybody = [value for own in groups.values() for value in own]
    return max(
        (
            sum(abs(own.count(v) / len(own) - everybody.count(v) / len(everybody)) for v in set(everybody)) / 2
            for own in groups.values()
        ),
        default=0,
    )


@pytest.mark.parametrize("algorithm", ["mondrian", "least-loss", "pk-clustering"])
def test_t_closeness_is_to_those_who_are_shown_in_the_end(algorithm: str) -> None:
    """Whoever shows nothing but stars is not shown, though they are a group of their own to the search."""
    far = {"model": "t-closeness", "sensitive": "s", "t": 0.3}
    solved = 0
    for seed in range(120):
        rng = random.Random(seed)
        now = {f"p{i}": (rng.choice("aabcd"), rng.choice("uuvw")) for i in range(24)}
        before = {person: (rng.choice("AB"), value) for person, (_, value) in now.items()}
        table, past = past_of(policy_with(far), now, before)
        try:
            solution = attempt_together(table, past, [find(algorithm)], silent).attempt.solution
        except Unmeetable:
            continue
        (shown,) = solution.shown
        out = set(np.flatnonzero(solution.suppressed_anywhere).tolist())
        assert _farthest(table, past, out, [shown.labels[code] for code in shown.codes.tolist()]) < 0.3 + 1e-9, seed
        solved += len(out) < len(now)
    assert solved > 20
