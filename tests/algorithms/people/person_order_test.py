"""People in an order that depends on nothing but what is known of them."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.people.person_order import canonical_fingerprints

TREE = {"tree": {"*": ["x", "y", "z"]}}
ATTRIBUTES = {"who": "individual", "a": QUASI, "s": {"role": "sensitive", "hierarchy": TREE}, "w": "insensitive"}


@pytest.mark.parametrize("seed", range(8))
def test_people_stand_by_their_sets_then_by_leaves_then_by_what_else_is_shown(seed: int) -> None:
    random = np.random.default_rng(seed)
    people = []
    for i in random.permutation(12):
        items = random.choice(list("xyz"), random.integers(1, 3), replace=False)
        people.append((sorted(items.tolist()), str(random.choice(["u", "v"])), str(i)))
    rows = [(f"p{i}", a, item, w) for i, (items, a, w) in enumerate(people) for item in items]
    for order in (range(len(rows)), random.permutation(len(rows))):
        columns = dict(zip(("who", "a", "s", "w"), zip(*(rows[i] for i in order), strict=True), strict=True))
        table = coded(columns, ATTRIBUTES)
        names = list(dict.fromkeys(columns["who"]))
        found = [people[int(names[i][1:])] for i in canonical_fingerprints(table)]
        assert found == sorted(people, key=lambda own: (own[0], own[1], str(own[2])))
