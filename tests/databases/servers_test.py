"""Servers of PostgreSQL: which may have a secret, and what they must show first."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.databases import Address, parse_place
from kveil.databases.servers import NO_SECRET, connection_words, is_trusted
from kveil.errors import DataError
from running_postgres import Server


def _words(address: str, *, named: bool = False, **environment: str) -> dict[str, str]:
    """Return what the library of PostgreSQL is told of an address."""
    place = parse_place(f"postgresql://{address}", named=named)
    assert isinstance(place, Address)
    said = connection_words(place, environment=environment)
    return {word: value.strip("'") for word, _, value in (part.partition("=") for part in said.split(" "))}


@pytest.mark.parametrize(
    ("address", "environment", "trusted"),
    [
        ("ann@localhost:54329/db?table=t", {}, False),
        ("ann@localhost/db?table=t", {}, False),
        ("ann@localhost/db?table=t", {"PGHOST": "localhost"}, True),
        ("ann@LOCALHOST:5432/db?table=t", {"PGHOST": "localhost"}, True),
        ("ann@localhost:54329/db?table=t", {"PGHOST": "localhost"}, False),
        ("ann@localhost:54329/db?table=t", {"PGHOST": "localhost", "PGPORT": "54329"}, True),
        ("ann@[::1]:54329/db?table=t", {"PGHOST": "::1", "PGPORT": "54329"}, True),
        ("ann@/db?host=/run/one&table=t", {"PGHOST": "/run/one"}, True),
        ("ann@/db?host=/run/ONE&table=t", {"PGHOST": "/run/one"}, False),
        ("ann@%2Frun%2Fone/db?table=t", {"PGHOST": "/run/one"}, True),
        ("/db?table=t", {}, True),  # where the user's own tools go, too
        ("/db?table=t", {"PGHOST": "db.internal"}, True),
        ("/db?port=54329&table=t", {}, False),
        ("db.internal,localhost/db?table=t", {"PGHOST": "db.internal"}, False),
        ("localhost,db.internal/db?table=t", {"PGHOST": "db.internal,localhost", "PGPORT": "5432"}, True),
        ("ann@localhost/db?host=/run/other&table=t", {"PGHOST": "localhost"}, False),
    ],
)
def test_a_policys_server_is_trusted_where_the_environment_names_it(
    address: str, environment: dict[str, str], trusted: bool
) -> None:
    place = parse_place(f"postgresql://{address}")
    assert isinstance(place, Address)
    assert is_trusted(place, environment=environment) is trusted
    if not trusted and "internal" in address:
        with pytest.raises(DataError, match="only the policy names this PostgreSQL server"):
            _words(address, **environment)
        return
    words = _words(address, **environment)
    assert (NO_SECRET.items() <= words.items()) is not trusted
    assert words["require_auth"] == ("!password,!md5" if trusted else "none")
    assert _words(address, named=True, **environment)["require_auth"] == "!password,!md5"


def test_a_server_elsewhere_shows_a_certificate_of_its_name(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    elsewhere = {"sslmode": "verify-full", "sslrootcert": "system"}
    here = {"PGHOST": "db.internal", **home}
    for policy_says in ("", "sslmode=disable&", "sslmode=require&"):
        asked = f"db.internal/db?{policy_says}table=t"
        assert elsewhere.items() <= _words(asked, **here).items()
        assert "sslmode" not in _words(asked, **here, PGSSLMODE="require")
        said = {"sslmode": policy_says[8:-1]} if policy_says else elsewhere
        assert said.items() <= _words(asked, named=True, **home).items()
    (tmp_path / ".postgresql").mkdir()
    (tmp_path / ".postgresql" / "root.crt").touch()
    assert "sslrootcert" not in _words("db.internal/db?table=t", **here)
    assert "sslmode" not in _words("localhost/db?table=t", named=True, **home)
    assert "sslmode" not in _words("127.0.0.2/db?table=t", named=True, **home)
    assert elsewhere.items() <= _words("localhost/db?hostaddr=192.0.2.1&table=t", named=True).items()
    assert "require_auth" not in _words("localhost/db?table=t", named=True, PGREQUIREAUTH="md5")
    assert _words("localhost/db?require_auth=md5&table=t", named=True)["require_auth"] == "md5"


def test_no_word_of_an_address_becomes_another_one() -> None:
    place = parse_place("postgresql://ann@localhost/d%5C%27b%20host=evil?table=t")
    assert isinstance(place, Address)
    assert r"dbname='d\\\'b host=evil'" in connection_words(place, environment={})
    with pytest.raises(DataError, match="a word behind"):
        _words("localhost/db?x%27%20host=evil&table=t", named=True)
    with pytest.raises(DataError, match="NUL"):
        _words("ann@localhost%00/db?table=t")


def test_a_server_takes_words_as_they_are_meant(server: Server) -> None:
    from adbc_driver_postgresql.dbapi import connect

    place = parse_place(server.address("application_name=a%5C%27%20b&table=patients"))
    assert isinstance(place, Address)
    with connect(connection_words(place)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('application_name')")
        assert cursor.fetchall() == [(r"a\' b",)]
