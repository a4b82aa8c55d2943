"""Tables as a policy's `data` names them: where each is, how its texts are read, and whether it has changed since."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kveil.databases import Address, Place, parse_place, read_database
from kveil.errors import DataError
from kveil.files import FileLayout, Source, check_layout, dataset_files, is_dataset, read_table
from kveil.policy.keys import Data
from kveil.policy.model import Policy
from kveil.studio.consent import needed_consent, refusal
from kveil.suggestion.write import path_from_folder

TABLES_OF = {
    "sqlite": (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ),
    "duckdb": (
        "SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END AS name "
        "FROM information_schema.tables ORDER BY name"
    ),
}


@dataclass(frozen=True)
class TableAt:
    """A table that a policy speaks about: what its `data` says, the folder that paths start from, expected columns.

    ``opened`` is how often the page has opened something: a server's table is read again only then.
    """

    data: Data
    folder: Path
    names: tuple[str, ...] = ()
    opened: int = 0

    @classmethod
    def said(cls, *, data: Any, folder: str, names: Sequence[str], opened: int) -> TableAt:
        """Return the table that the content of a policy names."""
        return cls(Data.read(data, "data"), Path(folder), tuple(names), opened)

    @classmethod
    def of(cls, policy: Policy, *, opened: int = 0) -> TableAt:
        """Return the table of a policy."""
        return cls(policy.data, policy.folder, tuple(policy.attributes), opened)

    @property
    def place(self) -> Place:
        """The file, the folder or pattern of files, or the database's table."""
        if self.data.path is None:
            raise DataError("the policy names no table; choose one on File, or write data.path.")
        return parse_place(self.data.path, folder=self.folder)

    @property
    def written(self) -> str:
        """The place as a policy in the folder writes it."""
        place = self.place
        if isinstance(place, Address):
            return place.written_from(self.folder)
        return str(self.data.path) if is_dataset(place) and not place.is_dir() else path_from_folder(place, self.folder)

    def stamp(self) -> tuple[Any, ...]:
        """Return what changes when the table, or the encoding it is read in, does."""
        place = self.place
        form = self.data.encoding, self.data.sheet, self.data.skip
        if isinstance(place, Address):
            files = [] if place.system == "postgresql" else _with_journals(place.file)
            return place, self.opened if not files else 0, form, *map(_seen, files)
        return place, form, *map(_seen, dataset_files(place) if is_dataset(place) else [place])

    def read(self, agreed: Collection[str]) -> Source:
        """Read the table, its numbers as they are written; a query, or a server, only where somebody agreed to it."""
        place = self.place
        if isinstance(place, Address):
            check_layout(self.data, "database", place.name)
            refused = refusal(place, agreed)
            if refused is not None:
                raise DataError(refused)
            return read_database(replace(place, named=needed_consent(place) is not None))
        return read_table(place, layout=FileLayout.said(self.data), columns=self.names)


def _with_journals(database: Path) -> list[Path]:
    """Return a database's file and those beside it that hold its latest changes."""
    beside = [database.with_name(database.name + end) for end in ("-wal", ".wal")]
    return [database, *(file for file in beside if file.exists())]


def _seen(file: Path) -> tuple[Path, int, int]:
    try:
        stat = file.stat()
    except OSError as error:
        raise DataError(f"{file.name}: the table cannot be read ({error.strerror}); choose it on File.") from None
    return file, stat.st_mtime_ns, stat.st_size


def tables_in(database: Path, system: Any) -> list[str]:
    """Return the names of the tables and views of a database in a file."""
    names = read_database(Address(system, file=database, query=TABLES_OF[system]))
    return [str(name) for name in names.texts("name").to_list()]
