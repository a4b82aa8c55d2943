"""Consent: to one query of one database, or to one server, and to nothing near it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.databases import Address, parse_place
from kveil.errors import DataError
from kveil.studio.consent import Consents, needed_consent, refusal

FREE = ("t.csv", "parts/*.parquet", "table:north.visits", "sqlite:///t.db?table=t", "duckdb:///t.db?table=a.b")
BOUND = (
    "sqlite:///t.db?query=SELECT%201", "sqlite:///t.db?query=SELECT%202", "sqlite:///u.db?query=SELECT%201",
    "duckdb:///t.db?query=SELECT%201", "postgresql://a@h/d?table=t", "postgresql://a@h/e?table=t",
    "postgresql://a@h:1/d?table=t", "postgresql://b@h/d?table=t", "postgresql://a@h/d?query=SELECT%201",
    "postgresql://a@h/d?host=other&table=t", "postgresql://a@h/d?query=SELECT%201%20",
)  # fmt: skip


def test_files_and_their_tables_need_no_consent(tmp_path: Path) -> None:
    for named in FREE:
        place = parse_place(named, folder=tmp_path)
        assert needed_consent(place) is None
        assert Consents().wanted(named, tmp_path) is None
        if isinstance(place, Address):
            assert refusal(place, ()) is None


@pytest.mark.parametrize("named", BOUND)
def test_consent_is_to_nothing_else(tmp_path: Path, named: str) -> None:
    consents = Consents()
    consents.give(named, tmp_path)
    for other in BOUND:
        place = parse_place(other, folder=tmp_path)
        assert isinstance(place, Address)
        assert consents.covers(other, tmp_path) is (other == named)
        assert (consents.wanted(other, tmp_path) is None) is (other == named)
        assert (refusal(place, consents.given) is None) is (other == named)
        assert consents.covers_server(other, tmp_path) is (other == named and other.startswith("postgresql"))
    if not named.startswith("postgresql"):
        (tmp_path / "elsewhere").mkdir()
        assert consents.wanted(named, tmp_path / "elsewhere") is not None


@pytest.mark.parametrize("words", ["require_auth=password", "hostaddr=192.0.2.1", "service=x", "a%27%20b=c"])
def test_nobody_agrees_to_words_that_a_policy_may_not_say(tmp_path: Path, words: str) -> None:
    consents = Consents()
    with pytest.raises(DataError, match="in a policy, an address of PostgreSQL says"):
        consents.give(f"postgresql://a@h/d?{words}&table=t", tmp_path)
    assert not consents.given


def test_a_server_covers_all_its_tables_and_no_query(tmp_path: Path) -> None:
    consents = Consents()
    consents.give("postgresql://a@h/d?table=t", tmp_path)
    assert consents.covers("postgres://a@h/d?table=u", tmp_path)
    assert not consents.covers("postgresql://a@h/d?query=SELECT%201", tmp_path)


def test_what_is_shown_hides_nothing_and_what_is_no_address_wants_nothing(tmp_path: Path) -> None:
    wanted = Consents().wanted("sqlite:///t.db?query=SELECT%20%E2%80%AE1%0A%1B", tmp_path)
    assert wanted == {"database": "t.db", "query": "SELECT \\u202e1\n\\x1b"}
    consents = Consents()
    for named in ("mysql://h/d?table=t", "sqlite:///t.db"):
        consents.give(named, tmp_path)
        assert consents.wanted(named, tmp_path) is None
        assert not consents.covers(named, tmp_path)
    assert not consents.given
