"""A release beside its original: pairs of what was and what is shown, beside counting them one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.verifier import alignment
from kveil.verifier.alignment import CELLS, SHOWN, STARRED, WAS, Asked, star_is_free
from kveil.verifier.release import lay_beside
from kveil.verifier.stars import Stars
from small_people import people, policy_of
from support import make_policy

POLICY = policy_of("[{model: k-anonymity, k: 1}]", "suppression: {limit: 1, show: star}")


def some(seed: int) -> tuple[pl.DataFrame, pl.DataFrame, np.ndarray]:
    """An original, a release of some of its rows in another order, and where these come from."""
    random = np.random.default_rng(seed)
    original = people(30, seed)
    places = random.permutation(30)[:20]
    release = original[places.tolist()]
    for name in ("age", "city", "sex"):
        cells = [cell if random.random() < 0.5 else "*" for cell in release[name].to_list()]
        release = release.with_columns(pl.Series(name, cells))
    return original, release, places


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_pairs_that_need_a_judgement_are_counted(seed: int, categories: bool) -> None:
    for found, expected in pairs_beside_counting(seed, categories=categories):
        assert found == expected


def test_pairs_of_many_categories_are_found_without_a_table_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "MOST_COUNTS", 1)
    for found, expected in pairs_beside_counting(1, categories=True):
        assert found == expected


Judged = Mapping[tuple[str, str, bool], int]


def pairs_beside_counting(seed: int, *, categories: bool) -> Iterator[tuple[Judged, Judged]]:
    """Yield, per quasi-identifier, the pairs that the verifier judges, and those that counting one by one gives."""
    original, release, places = some(seed)
    laid = lay_beside(table_of(release, POLICY), table_of(original, POLICY), places, POLICY)
    if categories:
        held = [replace(own, texts=own.texts.cast(pl.Categorical())) for own in (laid.rows, laid.before)]
        laid = replace(laid, rows=held[0], before=held[1])
    stars = Stars.of(laid.rows, POLICY)
    for column in laid.generalized(POLICY, stars):
        expected: Counter[tuple[str, str, bool]] = Counter()
        asked = Asked.of(POLICY, column.name)
        for was, shown, star in zip(
            original[column.name].gather(places).to_list(),
            release[column.name].to_list(),
            column.star.to_list(),
            strict=True,
        ):
            if star or ((asked.themselves or was != shown) and not (asked.free and shown == "*")):
                expected[was, shown, star] += 1
        found = {(w, s, star): n for w, s, star, n in column.pairs.select(WAS, SHOWN, STARRED, CELLS).iter_rows()}
        yield found, expected


def test_look_ups_are_about_released_records_or_all_as_they_say() -> None:
    original, release, places = some(0)
    laid = lay_beside(table_of(release, POLICY), table_of(original, POLICY), places, POLICY)
    assert set(laid.different(POLICY, "age")) == set(original["age"])
    counted = dict(laid.people_with(POLICY, "city", {"Oslo", "Rome"}).iter_rows())
    assert counted == {city: number for city, number in Counter(original["city"]).items() if city in ("Oslo", "Rome")}
    assert set(laid.images(POLICY, ["city", "sex"]).rows()) == set(original.select("city", "sex").rows())
    star = pl.Series([True] * 10 + [False] * 10)
    had = [city == "Oslo" for city in original["city"].gather(places)[:10]] + [False] * 10
    assert laid.starred_with("city", star, ["Oslo"]).tolist() == had
    kept = laid.kept(POLICY, "illness")
    assert kept.was.to_list() == kept.shown.to_list() == release["illness"].to_list()
    assert kept.count(pl.Series([True] * 3 + [False] * 17)) == 3


def test_records_of_persons_are_compared_with_the_row_of_their_person() -> None:
    policy = make_policy({"who": "individual", "a": "quasi-identifier", "s": "sensitive"}, algorithm="auto")
    original = pl.DataFrame({"who": list("pqprq"), "a": list("xyxzy"), "s": list("12345")})
    release = pl.DataFrame({"a": ["y", "x"], "s": ["2|5", "1|3"]})
    laid = lay_beside(table_of(release, policy), table_of(original, policy), np.array([1, 0]), policy)
    assert laid.records.tolist() == [0, 1, 2, 4]
    assert laid.row_of is not None
    assert laid.row_of.tolist() == [1, 0, 1, 0]
    assert laid.items_released("s") == ["1", "2", "3", "5"]
    assert dict(laid.people_with(policy, "a", {"x", "y", "z"}).iter_rows()) == {"x": 1, "y": 1, "z": 1}


def test_a_star_is_free_where_it_is_the_root_and_nothing_limits_it() -> None:
    tree = {"tree": {"all": ["x", "y"]}}
    own = {"role": "quasi-identifier"}
    for attribute, free in (
        (own, True),
        ({**own, "boundary": {"level": 0}}, False),
        ({**own, "hierarchy": tree}, False),
    ):
        assert star_is_free(make_policy({"a": attribute}), "a") == free
