"""Files that appear together, whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import polars as pl

from kveil.errors import FileError
from kveil.files.codebook import Codebook
from kveil.files.csv_writing import joined_items, write_csv
from kveil.files.dataset import is_dataset
from kveil.files.reading import parse_table
from kveil.files.source import check_written, kind_of
from kveil.files.texts import as_texts, strip_column
from kveil.free_form import JsonObject
from kveil.suffixes import suffix_of

NO_CODEBOOK = Codebook()
ROWS_PER_GROUP = 131_072  # of a Parquet file, so that its bytes do not depend on how a table lay in memory


@dataclass
class _Staged:
    """A file that will get a name: while it has none, ``name`` is None; ``replaced`` is where the old one waits."""

    target: Path
    file: IO[bytes]
    name: str | None
    replaced: str | None = None
    visible: bool = False

    @property
    def regular(self) -> bool:
        """Whether it is a file in a folder, not a pipe or a device."""
        return stat.S_ISREG(os.fstat(self.file.fileno()).st_mode)

    def keep_old(self) -> None:
        """Give what stands at the target a second, hidden name, so that it can come back."""
        if not self.target.exists():
            return
        self.replaced = _hidden_name(self.target.parent)  # noted before it is there: an interrupt may come between
        try:
            os.link(self.target, self.replaced)
        except OSError:  # a file system without links, or a file of somebody else's
            os.rename(self.target, self.replaced)

    def give_name(self) -> None:
        """Let the file appear at its target, in place of what stands there."""
        self.visible = True
        if self.name is None and not self.target.exists():
            self._link(str(self.target))
            return
        if self.name is None:  # a file without a name cannot be linked over another: link beside it, rename over it
            self.name = _hidden_name(self.target.parent)
            self._link(self.name)
        os.replace(self.name, self.target)
        self.name = None

    def _link(self, name: str) -> None:
        folder = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.link(str(self.file.fileno()), name, src_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)

    def take_back(self) -> None:
        """Let the target be what it was before, as far as the system allows."""
        with contextlib.suppress(OSError):
            if self.replaced is not None:
                os.replace(self.replaced, self.target)
                Path(self.replaced).unlink(missing_ok=True)  # where both were one file still, renaming left both names
            elif self.visible:
                self.target.unlink(missing_ok=True)


def _hidden_name(folder: Path) -> str:
    return str(folder / f".kveil-{secrets.token_hex(8)}")


@dataclass
class Outputs:
    """Files that appear together, whole, or not at all.

    Each is written to a file without a name in the folder of its target (`O_TMPFILE`), so that even a kill
    leaves nothing behind; where the file system has no such files, to a hidden temporary one. ``commit`` gives
    them their names in the order they were opened.
    """

    staged: list[_Staged] = field(default_factory=list)

    def open(self, target: Path, *, private: bool = False) -> IO[bytes]:
        """Return an open file that will become ``target``; a ``private`` one is readable by its owner alone.

        What is no regular file, a pipe or a device, is written to directly, and never with what is private: nobody
        knows who reads it.
        """
        target = Path(os.path.realpath(target))
        try:
            if target.exists() and not stat.S_ISREG(target.stat().st_mode):
                if target.is_dir():
                    raise FileError(f"{target.name}: this is a folder; name a file to write.")
                if private:
                    raise FileError(
                        f"{target.name} is a pipe or a device, and this output is private; name a regular file."
                    )
                staged = _Staged(target, target.open("wb"), None)
            else:
                staged = self._unnamed(target, 0o600 if private else 0o666)
        except OSError as error:
            raise write_error(target, error) from None
        self.staged.append(staged)
        return staged.file

    @staticmethod
    def _unnamed(target: Path, mode: int) -> _Staged:
        """Return a file without a name; the system takes the bits of the user's umask from its mode."""
        try:
            descriptor = os.open(target.parent, os.O_TMPFILE | os.O_RDWR, mode)
        except (OSError, AttributeError) as error:
            if isinstance(error, (PermissionError, FileNotFoundError, NotADirectoryError)):
                raise
            name = _hidden_name(target.parent)
            descriptor = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
            return _Staged(target, os.fdopen(descriptor, "w+b"), name)
        return _Staged(target, os.fdopen(descriptor, "w+b"), None)

    def write(self, file: IO[bytes], content: bytes) -> None:
        """Write bytes to a file opened here."""
        target = next(staged.target for staged in self.staged if staged.file is file)
        try:
            file.write(content)
            file.flush()
        except OSError as error:
            raise write_error(target, error) from None

    def commit(self, *, last: Callable[[], None] | None = None) -> None:
        """Give every file its name; until here none of them can be seen. Then do what is to come ``last``.

        Where one cannot get its name, or the last step fails, those before it are taken back, and what they replaced
        stands again.
        """
        for staged in self.staged:
            try:
                staged.file.flush()
                if staged.regular:
                    os.fsync(staged.file.fileno())
            except OSError as error:
                raise write_error(staged.target, error) from None
        named: list[_Staged] = []
        try:
            for staged in self.staged:
                if staged.regular:
                    named.append(staged)
                    staged.keep_old()
                    staged.give_name()
            if last is not None:
                last()
        except BaseException as error:
            for done in reversed(named):
                done.take_back()
            if isinstance(error, OSError):
                raise write_error(named[-1].target, error) from None
            raise
        for staged in named:
            if staged.replaced is not None:
                os.unlink(staged.replaced)
                staged.replaced = None

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


def as_json(content: JsonObject, *, indent: int | None = 2) -> bytes:
    """Return plain data as the bytes of a JSON file."""
    return json.dumps(content, indent=indent, ensure_ascii=False).encode() + b"\n"


def write_error(target: Path, error: Exception) -> FileError:
    """Return the error about a file that the system refuses to write."""
    told = re.search(r"os error (\d+)", str(error))  # all that polars keeps of the system's reason
    reason = getattr(error, "strerror", None) or (os.strerror(int(told[1])) if told else "the system refused")
    return FileError(
        f"{target.name} cannot be written ({reason}); nothing was written. Check the folder and its space."
    )


def default_release(source: Path) -> Path:
    """Return where the release of a table goes when nobody says: beside it, under its name with `-release`."""
    if is_dataset(source) and not source.is_dir():
        raise FileError(f"{source.name} is a pattern, so that the release has no name of its own; give --output.")
    suffix = source.name[len(source.name) - len(suffix_of(source)) :]
    return source.with_name(f"{source.name.removesuffix(suffix)}-release{suffix or '.parquet'}")


def write_table(
    frame: pl.DataFrame,
    file: IO[bytes],
    target: Path,
    *,
    separator: str = ",",
    missing: str = "",
    codebook: Codebook = NO_CODEBOOK,
) -> str:
    """Write a release to an open file by the suffix of its target; return the SHA-256 of the bytes.

    ``missing`` is what a CSV shows for a cell without a value; ``codebook`` is what a file of SPSS or Stata says
    of its columns.

    No statistics, no metadata of other programs, no dictionaries of values that are not in the rows.
    """
    kind = kind_of(target)
    check_written(target)
    if kind != "csv":  # where all is written by value; texts are so here, but categories could carry something along
        frame = frame.select(
            column if column.dtype == pl.String else strip_column(column) for column in frame.get_columns()
        )
    try:
        if kind == "csv":
            write_csv(frame, file, target, separator=separator, missing=missing)
        elif kind == "parquet":
            frame.write_parquet(file, statistics=False, metadata=None, row_group_size=ROWS_PER_GROUP)
        elif kind == "arrow":
            frame.write_ipc(file, compat_level=pl.CompatLevel.oldest())
        else:
            _write_for_others(frame, file, target, codebook)
        file.flush()
        if not file.seekable():
            return ""
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    except (OSError, pl.exceptions.PolarsError) as error:
        raise write_error(target, error) from None


def _write_for_others(frame: pl.DataFrame, file: IO[bytes], target: Path, codebook: Codebook) -> None:
    """Write a file of Excel, SPSS or Stata, and read it again: their cells hold less than ours."""
    plain = frame.select(joined_items(column) if column.dtype == pl.List else column for column in frame.get_columns())
    written = io.BytesIO()
    if kind_of(target) == "excel":
        from kveil.files.excel import write_excel

        write_excel(plain, written)
    else:
        from kveil.files.code_labels import write_labelled

        write_labelled(plain, written, target, codebook)
    again = parse_table(written.getvalue(), target).frame
    same = again.columns == plain.columns and again.height == plain.height
    if not same or not all(_same_cells(plain[name], again[name]) for name in plain.columns):
        raise FileError(
            f"{target.name}: this kind of file cannot hold the cells of the release unchanged, such as blanks at the "
            "end of a text; write CSV or Parquet instead."
        )
    file.write(written.getvalue())


def _same_cells(one: pl.Series, other: pl.Series) -> bool:
    """Tell whether two columns show the same texts; these files know no difference between nothing and no text."""
    return bool((as_texts(one).fill_null("") == as_texts(other).fill_null("")).all())
