"""Who somebody is across tables: told by keyed hashes, and never by a value in a message."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.archive import key_texts
from kveil.files import Source

PEOPLE = {"who": "individual", "id": "identifier", "age": "quasi-identifier"}


@pytest.mark.parametrize(
    ("roles", "key", "rows", "told"),
    [
        ({**PEOPLE, "who": "identifier"}, None, [("a", "1")], "data.key"),
        ({**PEOPLE, "who": "identifier"}, "id", [("a", "x-7"), ("b", "x-7")], "1 row repeat"),
        ({**PEOPLE, "who": "identifier"}, "id", [("a", ""), ("b", "x-7")], "missing in 1 record"),
        (PEOPLE, "id", [("a", "x-7"), ("a", "x-8")], "differs within 1 person"),
        (PEOPLE, "id", [("a", "x-7"), ("b", "x-7")], "1 row repeat"),
    ],
)
def test_who_is_who_must_be_told_and_no_value_is_in_the_message(
    roles: dict[str, str], key: str | None, rows: list[tuple[str, str]], told: str
) -> None:
    policy = kveil.Policy.model_validate(
        {
            "attributes": {name: {"role": role} for name, role in roles.items()},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "data": {} if key is None else {"key": key},
        }
    )
    frame = pl.DataFrame(rows, schema=["who", "id"], orient="row").with_columns(pl.lit("3").alias("age"))
    with pytest.raises(kveil.KveilError, match=told) as error:
        key_texts(Source("t", frame, "frame"), policy)
    assert "x-7" not in str(error.value)


def test_people_with_several_records_are_known_once() -> None:
    policy = kveil.Policy.model_validate(
        {
            "attributes": {name: {"role": role} for name, role in PEOPLE.items()},
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )
    rows = [("b", "1", "3"), ("a", "2", "3"), ("b", "1", "3")]
    source = Source("t", pl.DataFrame(rows, schema=["who", "id", "age"], orient="row"), "frame")
    assert key_texts(source, policy).to_list() == ["b", "a"]
