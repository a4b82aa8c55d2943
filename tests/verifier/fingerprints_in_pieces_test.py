"""Coverage of people's items, piece by piece: what looking at one person after another finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.frames import from_frame
from kveil.verifier import fingerprints
from kveil.verifier.rows import original_rows, release_rows
from strategies import examples
from support import QUASI, make_policy

TREE = {"tree": {"*": {"A": ["a", "b"], "B": {"C": ["c", "d"], "e": []}}}}
ABOVE = {"a": "aA*", "b": "bA*", "c": "cCB*", "d": "dCB*", "e": "eB*"}
ATTRIBUTES: dict[str, Any] = {
    "pid": {"role": "individual"},
    "x": {"role": QUASI},
    "item": {"role": "sensitive", "hierarchy": TREE},
}


@given(
    st.lists(st.tuples(st.sets(st.sampled_from("abcde"), min_size=1), st.sets(st.sampled_from("aAcCBe"), min_size=1)),
             min_size=1, max_size=8),
    st.sampled_from([1, 3, 1 << 16]), st.integers(0, 99),
)  # fmt: skip
@examples(80)
def test_every_item_is_looked_up_in_its_persons_labels(
    people: list[tuple[set[str], set[str]]], near: int, seed: int
) -> None:
    policy = make_policy(ATTRIBUTES, privacy=[{"model": "kl-diversity", "sensitive": "item", "k": 2, "l": 2}])
    pairs = [(str(person), item) for person, (had, _) in enumerate(people) for item in sorted(had)]
    order = np.random.default_rng(seed).permutation(len(people))  # released in another order
    records = {"pid": [p for p, _ in pairs], "x": ["0"] * len(pairs), "item": [i for _, i in pairs]}
    before = original_rows(from_frame(pl.DataFrame(records)), policy)
    sets = ["|".join(sorted(people[person][1])) for person in order.tolist()]
    after = release_rows(from_frame(pl.DataFrame({"x": ["0"] * len(sets), "item": sets})), policy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprints, "NEAR", near)
        found = fingerprints.compare_items(policy, "item", before, after, order)
    uncovered = sum(not set(ABOVE[item]) & shown for had, shown in people for item in had)
    unfounded = sum(not any(label in ABOVE[item] for item in had) for had, shown in people for label in shown)
    assert found == fingerprints.Coverage(uncovered, unfounded)
