"""A PostgreSQL server of one's own, on a socket in a folder that goes away with it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

REASON = "PostgreSQL is not installed; install Debian's package postgresql to run the tests against a real server"


def programs() -> Path | None:
    """Return the folder of the newest server's programs, None where there is none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    if folders and (folders[-1] / "initdb").exists():
        return folders[-1]
    found = shutil.which("initdb")
    return None if found is None else Path(found).parent


def account() -> str | None:
    """Return the user to run a server as: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


class Server:
    """A running server; ``user`` is its owner in the database, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def address(self, asked: str, database: str = "postgres", user: str = "kveil") -> str:
        """Return an address of a table or query."""
        return f"postgresql:///{database}?host={quote(str(self.folder))}&user={user}&{asked}"

    def sql(self, *statements: str) -> list[Any]:
        """Run statements as the owner, in one transaction, and return the rows of the last."""
        import adbc_driver_postgresql.dbapi as driver

        server = f"postgresql:///postgres?host={quote(str(self.folder))}&user=kveil"
        with driver.connect(server) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
            connection.commit()
        return rows

    def tables(self) -> set[str]:
        """Return the names of all tables."""
        return {name for (name,) in self.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}


@contextmanager
def running(bin_: Path) -> Iterator[Server]:
    """Start a server that listens on a socket only, and stop it."""
    as_user: dict[str, Any] = {} if account() is None else {"user": account()}
    folder = Path(tempfile.mkdtemp(prefix="kveil-pg-"))
    try:
        if as_user:
            shutil.chown(folder, account())
        quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "cwd": "/", **as_user}
        data = folder / "data"
        made = [bin_ / "initdb", "-D", data, "-U", "kveil", "-A", "trust", "-N", "--locale=C", "-E", "UTF8"]
        subprocess.run(made, stderr=subprocess.DEVNULL, **quiet)
        options = f"-c listen_addresses='' -c fsync=off -c unix_socket_directories='{folder}'"
        control = [bin_ / "pg_ctl", "-D", data, "-w", "-l", folder / "log"]
        subprocess.run([*control, "-o", options, "start"], **quiet)
        try:
            yield Server(folder)
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
