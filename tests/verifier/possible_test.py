"""Values that remain possible over several releases, beside intersecting sets person by person."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.policy.privacy import LDiversity, PSensitive
from kveil.verifier.links import PERSON, LinkedRelease
from kveil.verifier.possible import LEFT, possible_values, values_left
from kveil.verifier.rows import ITEM
from small_people import policy_of

POLICY = policy_of("[{model: k-anonymity, k: 1}]")
NAMES = ("age", "city", "sex")


def release_of(rows: list[tuple[int, str, str]]) -> LinkedRelease:
    """People with what their group shows and their illness."""
    frame = pl.DataFrame(
        {"age": [shown for _, shown, _ in rows], "city": "*", "sex": "*", "illness": [own for *_, own in rows]}
    )
    return LinkedRelease("one", POLICY, table_of(frame, POLICY), pl.Series([person for person, *_ in rows]))


def random_rows(random: Random) -> list[tuple[int, str, str]]:
    people = random.sample(range(8), random.randint(3, 8))
    return [(person, random.choice(["0-9", "10-19"]), random.choice(["flu", "gout", "cough"])) for person in people]


@pytest.mark.parametrize("seed", range(12))
def test_what_remains_possible_occurs_in_every_group_of_a_person(seed: int) -> None:
    random = Random(seed)
    both = [random_rows(random), random_rows(random)]
    left = values_left("illness", [release_of(rows) for rows in both], [NAMES, NAMES], None)
    assert left is not None
    found: dict[int, set[str]] = {person: set() for person in left.people[PERSON].to_list()}
    for person, item in left.values.select(PERSON, ITEM).iter_rows():
        found[person].add(item)
    expected: dict[int, set[str]] = {}
    for rows in both:
        for person, shown, _ in rows:
            group = {illness for _, other, illness in rows if other == shown}
            expected[person] = expected.get(person, group) & group
    assert found == expected
    assert dict(left.people.select(PERSON, LEFT).iter_rows()) == {p: len(own) for p, own in expected.items()}


def test_people_for_whom_too_few_values_remain_are_told() -> None:
    first = [(1, "0-9", "flu"), (2, "0-9", "gout"), (3, "10-19", "cough")]
    second = [(1, "0-9", "flu"), (3, "0-9", "cough"), (2, "10-19", "cough")]
    releases = [release_of(first), release_of(second)]
    model = PSensitive(sensitive="illness", p=2)
    entry, findings = possible_values(model, "illness", releases, [NAMES, NAMES], None)
    # 1: flu; 2: nothing, since it changed; 3: cough.
    assert entry == {"sensitive": "illness", "one": 2, "right": 2, "changed": 1}
    assert findings == [
        "over all releases together fewer than 2 values of illness remain possible for 2 people, one for 2, which is "
        "right for 2 of them."
    ]
    entropy = LDiversity(sensitive="illness", l=2, variant="entropy")  # says nothing about a number of values
    assert possible_values(entropy, "illness", releases, [NAMES, NAMES], None)[1] == []


def test_an_attribute_that_no_release_shows_leaves_nothing_to_say() -> None:
    assert values_left("weight", [release_of([(1, "0-9", "flu")])], [NAMES], None) is None
