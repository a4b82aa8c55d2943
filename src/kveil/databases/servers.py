"""How a server of PostgreSQL is spoken to: which one may have a secret, and what it must show before."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from kveil.databases.address import Address
from kveil.errors import DataError
from kveil.words import listing

OF_POLICIES = ("host", "port", "dbname", "user", "application_name", "connect_timeout", "sslmode")
PORT = "5432"
# For a server that only a policy names: no proof of who somebody is, in whatever way it asks for one.
NO_SECRET = {"require_auth": "none", "sslcertmode": "disable", "gssencmode": "disable"}
NO_READABLE_PASSWORD = "!password,!md5"  # SCRAM shows neither a password nor what stands for one

ServerWords = dict[str, str]  # what an address says to PostgreSQL's library, by its keywords


def connection_words(address: Address, *, environment: Mapping[str, str] | None = None) -> str:
    """Return what PostgreSQL's library is told, word by word, so that it reads no other server out of an address.

    A server that neither the user nor the environment names gets no secret, and one elsewhere is not spoken to at all.
    """
    environment = os.environ if environment is None else environment
    said = _words_of(address.server)
    if any("\0" in value for value in said.values()):
        raise DataError("an address of a database cannot hold a NUL character; take %00 out.")
    if not address.named:
        check_words(address)
    if not all(word.isidentifier() for word in said):
        raise DataError("an address of PostgreSQL has a word behind ? that is none; check what stands before each =.")
    known = address.named or _is_in_environment(said, environment)
    local = all(_is_local(host) for host in _ends(said, environment))
    if not known:
        if not local:
            raise DataError(
                "only the policy names this PostgreSQL server, so that it is not spoken to; set PGHOST (and PGPORT) to "
                "it, or give the whole address with --input."
            )
        said |= NO_SECRET
    else:
        if not address.named:  # a policy makes a connection to a server of the user's no weaker
            said.pop("sslmode", None)
        said = _guards(said, environment, local=local) | said
    said.setdefault("client_encoding", "UTF8")
    return " ".join(f"{word}={_value(value)}" for word, value in said.items())


def is_trusted(address: Address, *, environment: Mapping[str, str] | None = None) -> bool:
    """Tell whether a server may have secrets: the user named it, or the environment does."""
    environment = os.environ if environment is None else environment
    return address.named or _is_in_environment(_words_of(address.server), environment)


def _words_of(server: str) -> ServerWords:
    """Return what an address says, each host and port by itself; what stands behind ``?`` comes last and counts."""
    where, _, more = server.removeprefix("postgresql://").partition("?")
    before, _, database = where.partition("/")
    user, _, hosts = before.rpartition("@")
    said: ServerWords = {}
    pairs = [_host_and_port(unquote(host)) for host in hosts.split(",")] if hosts else []
    if any(host for host, _ in pairs):
        said["host"] = ",".join(host for host, _ in pairs)
    if any(port for _, port in pairs):
        said["port"] = ",".join(port for _, port in pairs)
    if user:
        said["user"] = unquote(user)
    if database:
        said["dbname"] = unquote(database)
    for word, value in parse_qsl(more, keep_blank_values=True):
        if (word, value) == ("ssl", "true"):
            word, value = "sslmode", "require"
        said[word] = value
    return {word: value for word, value in said.items() if value}


def _host_and_port(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"\[(?P<six>[^\]]*)\](?::(?P<behind>\d*))?|(?P<host>.*?)(?::(?P<port>\d*))?", text, re.DOTALL)
    assert match is not None, "the second form takes any text"
    return match["six"] or match["host"] or "", match["behind"] or match["port"] or ""


def check_words(address: Address) -> None:
    """Raise DataError where an address says what a policy may not: a policy leads to no other files and settings."""
    others = sorted(set(_words_of(address.server)) - set(OF_POLICIES))
    if others:
        raise DataError(
            f"in a policy, an address of PostgreSQL says {listing(OF_POLICIES)}, not {listing(others)}; set the "
            "variable of PostgreSQL's library for it, or give the whole address with --input."
        )


def _hosts(said: Mapping[str, str], environment: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return the hosts that are meant, each with its port; an empty host is what the library goes to by itself."""
    hosts = (said.get("host") or environment.get("PGHOST", "")).split(",")
    hosts = [host if host.startswith("/") else host.lower() for host in hosts]
    ports = (said.get("port") or environment.get("PGPORT", "")).split(",")
    if len(ports) != len(hosts):
        ports = ports[:1] * len(hosts)
    return {(host, port or PORT) for host, port in zip(hosts, ports, strict=True)}


def _ends(said: ServerWords, environment: Mapping[str, str]) -> list[str]:
    """Return where connections really go: to the numbers that stand for hosts, where some are given."""
    numbers = said.get("hostaddr") or environment.get("PGHOSTADDR", "")
    return numbers.split(",") if numbers else [host for host, _ in _hosts(said, environment)]


def _is_in_environment(said: ServerWords, environment: Mapping[str, str]) -> bool:
    """Tell whether an address means no other server than one without host and port would."""
    return "hostaddr" not in said and "service" not in said and _hosts(said, environment) <= _hosts({}, environment)


def _is_local(host: str) -> bool:
    if not host or host[0] in "/@" or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _guards(said: ServerWords, environment: Mapping[str, str], *, local: bool) -> ServerWords:
    """Return what a server must do and show before it gets a secret, as far as the user says nothing else."""
    guards: ServerWords = {}
    if "PGREQUIREAUTH" not in environment:
        guards["require_auth"] = NO_READABLE_PASSWORD
    if not local and "sslmode" not in said and "PGSSLMODE" not in environment:
        guards["sslmode"] = "verify-full"
        own = Path(environment.get("HOME", "")) / ".postgresql" / "root.crt"
        if "PGSSLROOTCERT" not in environment and not own.exists():
            guards["sslrootcert"] = "system"
    return guards


def _value(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
