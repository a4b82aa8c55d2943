"""Folders that nobody sees before they are complete: written beside their target, private, renamed at the end."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kveil.engines.spark.session import on_disk, tell_plainly
from kveil.errors import FileError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PRIVATE, PRIVATE_FILE = 0o700, 0o600
# Nothing in the files beside the cells: no statistics, no filters, no mark of success.
WRITING = {
    "parquet.column.statistics.enabled": "false",
    "parquet.bloom.filter.enabled": "false",
    "parquet.page.write-checksum.enabled": "false",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "compression": "zstd",
}


class StagedFolder:
    """A folder of Parquet files that is being made.

    It lies beside its target under a name of its own, which only its owner may read. It goes when the block ends,
    and Spark's machine deletes it where the process of kveil is killed.
    """

    def __init__(self, session: SparkSession, target: Path, *, private: bool = False) -> None:
        self._session = session
        self._target = target
        self._private = private
        self._machine: Any = session._jvm
        self._folder = target.absolute().parent / f".kveil-{secrets.token_hex(8)}"
        self.rows = self._folder / "rows"
        if target.exists() or target.is_symlink():
            raise FileError(f"{target.name} exists already, and a folder is never replaced; name another one.")
        if not self._folder.parent.is_dir():
            raise FileError(f"{target.name}: the folder that it should go to does not exist; make it first.")
        with tell_plainly(f"make a folder beside {target.name}"):
            files = self._files
            path = self._path(self._folder)
            files.mkdirs(path, self._mode(PRIVATE))
            files.setPermission(path, self._mode(PRIVATE))
            files.deleteOnExit(path)

    @property
    def _files(self) -> Any:
        return self._path(self._folder).getFileSystem(self._session._jsc.hadoopConfiguration())

    def _path(self, path: Path) -> Any:
        return self._machine.org.apache.hadoop.fs.Path(on_disk(path))

    def _mode(self, mode: int) -> Any:
        return self._machine.org.apache.hadoop.fs.permission.FsPermission(f"{mode:o}")

    def write(self, frame: DataFrame) -> None:
        """Write rows; of what Spark writes beside them nothing stays, and files are named by their number alone."""
        with tell_plainly(f"write {self._target.name}"):
            frame.write.options(**WRITING).parquet(on_disk(self.rows))
            files, number = self._files, 0
            listed = sorted(files.listStatus(self._path(self.rows)), key=lambda status: status.getPath().getName())
            for status in listed:
                name = status.getPath().getName()
                if name.startswith("part-") and name.endswith(".parquet"):
                    files.rename(status.getPath(), self._path(self.rows / f"part-{number:05}.parquet"))
                    number += 1
                else:
                    files.delete(status.getPath(), True)
            self._without_checksums()

    def _without_checksums(self) -> None:
        """Delete the sums that Hadoop keeps in hidden files of a local folder."""
        if self.rows.is_dir():
            for file in self.rows.glob(".*.crc"):
                file.unlink(missing_ok=True)

    def describe(self, name: str, content: bytes) -> None:
        """Put a file beside the rows, whose name Spark passes over since it starts with an underscore."""
        with tell_plainly(f"write {self._target.name}"):
            stream = self._files.create(self._path(self.rows / name), True)
            stream.write(bytearray(content))
            stream.close()
            self._without_checksums()

    def commit(self) -> None:
        """Give the folder its name, in one step; it must not exist by now either."""
        machine = self._machine.org.apache.hadoop.fs
        with tell_plainly(f"rename the folder to {self._target.name}"):
            settings = self._session._jsc.hadoopConfiguration()
            modes = machine.permission.FsPermission
            usual = modes.getDirDefault().applyUMask(modes.getUMask(settings))
            if self._private:
                for status in self._files.listStatus(self._path(self.rows)):
                    self._files.setPermission(status.getPath(), self._mode(PRIVATE_FILE))
            self._files.setPermission(self._path(self.rows), self._mode(PRIVATE) if self._private else usual)
            context = machine.FileContext.getFileContext(self._path(self._folder).toUri(), settings)
            no_options = self._session.sparkContext._gateway.new_array(machine.Options.Rename, 0)
            context.rename(self._path(self.rows), self._path(self._target.absolute()), no_options)

    def withdraw(self) -> None:
        """Take back a folder that was named already, since something after it failed."""
        shutil.rmtree(self._target, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # By this process: Spark's machine may be gone.
        shutil.rmtree(self._folder, ignore_errors=True)
