"""Files that appear together, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import polars as pl

from kveil.errors import FileError
from kveil.files.reading import kind_of
from kveil.files.texts import as_texts, fresh, item_texts


@dataclass
class _Staged:
    target: Path
    file: IO[bytes]
    name: str | None  # of the file on disk, None while it has none


@dataclass
class Outputs:
    """Files that appear together, whole, or not at all.

    Each is written to a file without a name in the folder of its target (`O_TMPFILE`), so that even a kill
    leaves nothing behind; where the file system has no such files, to a hidden temporary one. ``commit`` gives
    them their names in the order they were opened.
    """

    staged: list[_Staged] = field(default_factory=list)

    def open(self, target: Path, mode: int | None = None) -> IO[bytes]:
        """Return an open file that will become ``target``; ``mode`` defaults to the user's umask."""
        target = Path(os.path.realpath(target))
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        try:
            if target.exists() and not stat.S_ISREG(target.stat().st_mode):
                if target.is_dir():
                    raise FileError(f"{target.name}: this is a folder; name a file to write.")
                staged = _Staged(target, target.open("wb"), None)
            else:
                staged = self._unnamed(target, mode)
        except OSError as error:
            raise _write_error(target, error) from None
        self.staged.append(staged)
        return staged.file

    @staticmethod
    def _unnamed(target: Path, mode: int) -> _Staged:
        try:
            descriptor = os.open(target.parent, os.O_TMPFILE | os.O_RDWR, mode)
        except (OSError, AttributeError) as error:
            if isinstance(error, (PermissionError, FileNotFoundError, NotADirectoryError)):
                raise
            descriptor, name = tempfile.mkstemp(prefix=".kveil-", dir=target.parent)
            os.fchmod(descriptor, mode)
            return _Staged(target, os.fdopen(descriptor, "w+b"), name)
        os.fchmod(descriptor, mode)
        return _Staged(target, os.fdopen(descriptor, "w+b"), None)

    def write_json(self, file: IO[bytes], content: dict[str, Any], indent: int | None = 2) -> None:
        """Write plain data as JSON to a file opened here."""
        self.write(file, json.dumps(content, indent=indent, ensure_ascii=False).encode() + b"\n")

    def write(self, file: IO[bytes], content: bytes) -> None:
        """Write bytes to a file opened here."""
        target = next(staged.target for staged in self.staged if staged.file is file)
        try:
            file.write(content)
            file.flush()
        except OSError as error:
            raise _write_error(target, error) from None

    def commit(self) -> None:
        """Give every file its name; until here none of them can be seen."""
        for staged in self.staged:
            try:
                staged.file.flush()
                if stat.S_ISREG(os.fstat(staged.file.fileno()).st_mode):
                    os.fsync(staged.file.fileno())
            except OSError as error:
                raise _write_error(staged.target, error) from None
        named: list[Path] = []
        for staged in self.staged:
            new = not staged.target.exists()
            try:
                self._name(staged)
            except OSError as error:
                for target in named:
                    target.unlink(missing_ok=True)
                raise _write_error(staged.target, error) from None
            if new:
                named.append(staged.target)

    @staticmethod
    def _name(staged: _Staged) -> None:
        if not stat.S_ISREG(os.fstat(staged.file.fileno()).st_mode):
            return
        if staged.name is None:
            # linkat cannot replace a file: link beside it first, then rename over it.
            staged.name = tempfile.mktemp(prefix=".kveil-", dir=staged.target.parent)
            folder = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY)
            try:
                link = staged.name if staged.target.exists() else str(staged.target)
                os.link(str(staged.file.fileno()), link, src_dir_fd=folder, follow_symlinks=True)
                if link != staged.name:
                    staged.name = None
                    return
            finally:
                os.close(folder)
        os.replace(staged.name, staged.target)
        staged.name = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for staged in self.staged:
            try:
                staged.file.close()
            except OSError:  # a full disk may refuse the last bytes of a file that is given up anyway
                if kind is None:
                    raise
            finally:
                if staged.name is not None:
                    Path(staged.name).unlink(missing_ok=True)


def _write_error(target: Path, error: Exception) -> FileError:
    told = re.search(r"os error (\d+)", str(error))  # all that polars keeps of the system's reason
    reason = getattr(error, "strerror", None) or (os.strerror(int(told[1])) if told else "the system refused")
    return FileError(
        f"{target.name} cannot be written ({reason}); nothing was written. Check the folder and its space."
    )


def write_table(frame: pl.DataFrame, file: IO[bytes], target: Path, separator: str = ",", missing: str = "") -> str:
    """Write a release to an open file by the suffix of its target; return the SHA-256 of the bytes.

    ``missing`` is what a CSV shows for a cell without a value.

    No statistics, no metadata of other programs, no dictionaries of values that are not in the rows.
    """
    kind = kind_of(target)
    # Texts are written by value here, so that only categories could carry something along.
    frame = frame.select(column if column.dtype == pl.String else fresh(column) for column in frame.get_columns())
    try:
        if kind == "csv":
            _write_csv(frame, file, separator, missing)
        elif kind == "parquet":
            frame.write_parquet(file, statistics=False, metadata=None)
        else:
            frame.write_ipc(file, compat_level=pl.CompatLevel.oldest())
        file.flush()
        if not file.seekable():
            return ""
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _write_error(target, error) from None


def joined_items(column: pl.Series) -> pl.Series:
    """Return sets of items as texts, null where a set is empty: nothing is known, which is no empty item."""
    frame = item_texts(column).to_frame("set")
    items = pl.when(pl.col("set").list.len() > 0).then(pl.col("set").list.join("|"))
    return frame.select(items.alias(column.name)).to_series()


def _write_csv(frame: pl.DataFrame, file: IO[bytes], separator: str, missing: str) -> None:
    texts: list[pl.Series] = []
    for column in frame.get_columns():
        text = joined_items(column) if column.dtype == pl.List else as_texts(column)
        if text.null_count():
            text = text.fill_null(missing)
        # polars writes "" for an empty text and nothing for null; alone in its row, nothing would be no row.
        if frame.width > 1:
            text = text.replace({"": None})
        texts.append(text)
    pl.DataFrame(texts).write_csv(file, separator=separator, line_terminator="\n")
