"""Tables that keep versions are read at the newest one, by queries that need no Spark to be looked at."""

from __future__ import annotations

import pytest

from kveil.engines.spark.reading import pin_version, quote_table


@pytest.mark.parametrize(
    ("provider", "query", "version"),
    [
        ("delta", "DESCRIBE HISTORY `clinic`.`visits` LIMIT 1", 12),
        ("iceberg", "SELECT snapshot_id FROM `clinic`.`visits`.refs WHERE name = 'main'", 3821550127947089009),
    ],
)
def test_a_table_that_keeps_versions_is_read_at_the_newest(provider: str, query: str, version: int) -> None:
    asked: list[str] = []

    def newest(told: str) -> list[int]:
        asked.append(told)
        return [version]

    name = quote_table("clinic.visits")
    assert pin_version(name, provider, newest) == f"SELECT * FROM `clinic`.`visits` VERSION AS OF {version}"
    assert asked == [query]


def test_other_tables_and_those_without_a_version_are_read_as_they_are() -> None:
    assert pin_version("`visits`", "parquet", lambda _: [1]) == "SELECT * FROM `visits`"
    assert pin_version("`visits`", "iceberg", lambda _: []) == "SELECT * FROM `visits`"


def test_a_name_means_nothing_to_sql() -> None:
    assert quote_table("a`b.c; DROP TABLE d") == "`a``b`.`c; DROP TABLE d`"


def test_a_version_that_is_no_number_goes_into_no_query() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        pin_version("`visits`", "delta", lambda _: ["1; DROP TABLE visits"])
