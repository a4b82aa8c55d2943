"""The session that kveil works in: the one there is, or one of its own on this machine."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any

from kveil.errors import DataError, FileError, Refused
from kveil.files.extras import import_extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Of a session that kveil starts by itself: no page of its own, no bars between the lines of a terminal.
OWN = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
# Folders like zip=02138 stand for texts; every column of every file is read, so that none goes unseen.
READING = {
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.mergeSchema": "true",
    "spark.sql.session.timeZone": "UTC",
    # Moments are written as kveil's other engines write them, and not as numbers of 96 bits that have no time zone.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.caseSensitive": "true",
    "spark.sql.files.openCostInBytes": "65536",  # packed files are read by several at a time, though they are small
    # Tables of the driver are sent as they are, a part per task; as rows of a plan they would take longer.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.localRelationThreshold": "1000000b",
}


def spark_session() -> SparkSession:
    """Return a session with settings of kveil's own, beside whatever session of the cluster there is.

    Memory, cores and the address of the cluster are those of `spark-submit`, or of Spark's own files of settings.
    """

    def load() -> Any:
        from pyspark.sql import SparkSession

        return SparkSession

    kind = import_extra(load, "tables on Spark", "pyspark", extra="spark")
    active = kind.getActiveSession()
    if active is None:
        active = _started(kind)
    if not hasattr(active, "_jvm"):
        raise Refused(
            "engine spark reads, writes and renames by Spark's own machine, which a session of Spark Connect does not "
            "reach; run kveil with spark-submit."
        )
    session = active.newSession()
    for key, value in READING.items():
        session.conf.set(key, value)
    return session


def setting_of(session: SparkSession, name: str) -> int | None:
    """Return a whole number that the settings of a session have under a name of kveil's, None where they have none."""
    told = session.conf.get(name, None)
    if told is None:
        return None
    if not told.isdigit():
        raise DataError(f"the setting {name} of Spark is to be a whole number, and is none; correct it.")
    return int(told)


def _started(kind: Any) -> Any:
    with tell_plainly("start a session"):
        if "PYSPARK_GATEWAY_PORT" in os.environ:  # by spark-submit, whose settings hold
            return kind.builder.appName("kveil").getOrCreate()
        java = os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "java")
        if not os.path.isfile(java) and shutil.which("java") is None:
            raise FileError("Spark needs Java 17, which is not on this machine; install it, or set JAVA_HOME.")
        _start_java()
        session = kind.builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")  # what goes wrong is told in one sentence
        return session


def _start_java() -> None:
    """Start Spark's machine, unless it runs already; it writes to no terminal, since its first words are never off."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is None:
        settings = SparkConf().setAppName("kveil").setAll(list(OWN.items()))
        context = SparkContext(conf=settings, gateway=launch_gateway(settings, {"stderr": DEVNULL}))
        if "PYSPARK_PYTHON" not in os.environ:  # executors on this machine have the Python that runs kveil
            context.pythonExec = sys.executable


def on_disk(path: Path) -> str:
    """Return a path of this machine as Hadoop names it: sign by sign, since it takes nothing back that was escaped."""
    return f"file://{path}"


def as_pattern(place: str) -> str:
    """Return a place as Spark reads it, which takes brackets and stars for a pattern unless they are escaped."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", place)


@contextmanager
def no_new_warehouse(session: SparkSession) -> Iterator[None]:
    """Take away the folder for tables of its own that Spark makes as soon as its catalog is asked for anything.

    Unless it was there before, or has something in it.
    """
    told = str(session.conf.get("spark.sql.warehouse.dir", ""))
    folder = Path("/" + told.removeprefix("file:").lstrip("/"))  # elsewhere than on this machine there is none
    there = folder.exists()
    try:
        yield
    finally:
        if not there:
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def tell_plainly(doing: str) -> Iterator[None]:
    """Turn errors of Spark into one sentence: their texts quote rows of the table, and so does what PySpark logs."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    _silence_pyspark()
    before = _quiet.set(True)
    try:
        yield
    except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
        condition = getattr(error, "getCondition", lambda: None)()
        reason = f" ({condition})" if isinstance(condition, str) else ""
        raise DataError(f"Spark could not {doing}{reason}; look into the log of the cluster, and run again.") from None
    finally:
        _quiet.reset(before)


_quiet: ContextVar[bool] = ContextVar("_quiet", default=False)


def _told(record: logging.LogRecord) -> bool:
    return not _quiet.get()


def _silence_pyspark() -> None:
    """Let PySpark log no error of a query while kveil turns it into a sentence; other queries of a host it may."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_told)
