"""How a release is written: as the table came in, with nothing that its rows do not show."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import polars as pl

from kveil.databases import Place, StagedTable, check_new_table
from kveil.engines.store import LaidRelease, ReleaseFile
from kveil.errors import FileError
from kveil.files import (
    Outputs,
    Source,
    as_texts,
    check_written,
    default_release,
    kind_of,
    suffix_of,
    with_commas,
    write_table,
)
from kveil.files.writing import write_error
from kveil.policy.model import Policy
from kveil.table.columns import ROWS_WORTH_A_THREAD


@dataclass(frozen=True)
class Targets:
    """What a run writes: the release, as a file or a table of a database, and beside it what is asked for.

    Account, owner's file and report are for the owner's eyes, unless the report is ``public``.
    """

    release: Place
    _: KW_ONLY
    receipt: Path | None = None
    account: Path | None = None
    owner: Path | None = None
    report: Path | None = None
    public: bool = False
    archive: Path | None = None  # a folder, which keeps what later releases need
    owner_key: tuple[str, ...] = ()  # on Spark, where the owner's file is a folder: columns that say who is who

    @property
    def hashed(self) -> bool:
        """Whether something that is written names the SHA-256 of the input."""
        return self.owner is not None or self.archive is not None

    def beside(self) -> Iterator[tuple[Path, bool]]:
        """Return each file beside the release, with whether it is private."""
        files = ((self.receipt, False), (self.account, True), (self.owner, True), (self.report, not self.public))
        yield from ((target, private) for target, private in files if target is not None)


def check_new(
    targets: Iterable[Path], reads: Iterable[Path], *, force: bool, instead: str = "another file with -o"
) -> None:
    """Raise FileError where a file that is to be written exists, unless forced, or is one that the run reads.

    ``instead`` is what to name in its place.
    """
    read = [path for path in reads if path.exists()]
    for target in targets:
        if target.exists() and any(target.samefile(path) for path in read):
            raise FileError(f"{target.name} is what the run reads and is never replaced; name {instead}.")
        if target.exists() and not force:
            raise FileError(f"{target.name} exists already; name {instead}, or replace it with --force.")


def write_release(release: Source, source: Source, policy: Policy, file: IO[bytes], target: Path) -> str:
    """Write the release of a source to an open file; return the SHA-256 of its bytes.

    Columns that are released unchanged have the decimal commas, and what is said of their codes, that they came with.
    """
    frame = release.frame
    if kind_of(target) != "csv":  # which shows categories as their texts
        frame = _in_texts(frame, policy)
    written = _as_it_came(frame, source, policy)
    missing = policy.data.missing[0]
    return write_table(written, file, target, separator=source.separator, missing=missing, codebook=release.codebook)


@contextmanager
def write_meanwhile(
    laid: LaidRelease, source: Source, policy: Policy, out: ReleaseFile | None
) -> Iterator[Callable[[], str | None]]:
    """Write a large release while the caller judges it, to a file that nobody can see; give a way to its SHA-256.

    None where it is not written yet: small ones, and those whose file can be seen before it gets its name.
    """
    if laid.sha256 is not None or out is None or not out.unseen or laid.source.rows < ROWS_WORTH_A_THREAD:
        yield lambda: laid.sha256
        return
    file, target = out.file, out.target

    def write() -> str:
        digest = write_release(laid.source, source, policy, file, target)
        try:
            os.fsync(file.fileno())
        except OSError as error:
            raise write_error(target, error) from None
        return digest

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(write).result


def _as_it_came(frame: pl.DataFrame, source: Source, policy: Policy) -> pl.DataFrame:
    return with_commas(frame, source.commas.intersection(policy.unchanged))


def _in_texts(frame: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Return a release whose quasi-identifiers are texts, however they were held."""
    held = [name for name in policy.quasi_identifiers if isinstance(frame.schema.get(name), pl.Categorical)]
    return frame.with_columns(as_texts(frame[name]) for name in held) if held else frame


def default_destination(source: Place) -> Path:
    """Return where the release of a table goes when nobody says: beside it."""
    if not isinstance(source, Path):
        raise FileError("a table of a database has no folder that its release could go to; give --output.")
    return default_release(source)


def check_destination(place: Place) -> None:
    """Raise DataError where a release cannot go to a place, before anything is read."""
    if isinstance(place, Path):
        check_written(place)
    else:
        check_new_table(place)


class Destination:
    """Where a release goes: a file among the outputs of a run, or a new table of a database.

    Nobody sees either before ``commit``.
    """

    def __init__(self, place: Place, outputs: Outputs) -> None:
        self.place = place
        self._outputs = outputs
        self._file: IO[bytes] | None = outputs.open(place) if isinstance(place, Path) else None
        self._table = None if isinstance(place, Path) else StagedTable(place)

    @property
    def file(self) -> ReleaseFile | None:
        """The file of the release, None where it goes to a database."""
        if self._file is None or not isinstance(self.place, Path):
            return None
        return ReleaseFile(self._file, self.place)

    def write(self, release: Source, source: Source, policy: Policy) -> str | None:
        """Write the release of a source; return the SHA-256 of its bytes, None for a table, which has none."""
        if self._file is not None and isinstance(self.place, Path):
            return write_release(release, source, policy, self._file, self.place)
        assert self._table is not None
        self._table.write(_as_it_came(_in_texts(release.frame, policy), source, policy))
        return None

    def content(self, frame: pl.DataFrame, policy: Policy) -> tuple[bytes, str]:
        """Return the bytes that an archive keeps of a release, and their suffix; those of a table are Parquet."""
        if self._file is None or not isinstance(self.place, Path):
            written = io.BytesIO()
            write_table(_in_texts(frame, policy), written, Path("release.parquet"))
            return written.getvalue(), ".parquet"
        if not self._file.seekable():
            raise FileError(
                f"{self.place.name} is a pipe, and an archive keeps the release as a file; name a regular file."
            )
        self._file.seek(0)
        return self._file.read(), suffix_of(self.place)

    def commit(self) -> None:
        """Let everything be seen, the release last."""
        self._outputs.commit(last=None if self._table is None else self._table.commit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return None if self._table is None else self._table.__exit__(kind, error, trace)
