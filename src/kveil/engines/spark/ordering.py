"""In which file of a release a row stands, and where in it: by what it shows alone, or by chance."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from kveil.policy.model import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 1_000_000  # that a file of a release has, on the average of several


def in_order(frame: DataFrame, policy: Policy, rows: int) -> DataFrame:
    """Return the rows of a release in the files and the order in which they are written.

    Rows go to files by a hash of all they show, and are sorted inside: neither the order of the input nor the way that
    Spark divided it has a say in it. To shuffle, both go by a hash that nobody can repeat.
    """
    from pyspark.sql import functions as f

    cells = [f.col(quoted(name)) for name in frame.columns]
    files = max(-(-rows // ROWS), 1)
    if policy.release.order == "shuffle":
        # Never the policy's seed: whoever reads the policy could undo the shuffle. Equal rows need no order.
        cells = [f.sha2(f.concat(f.lit(secrets.token_hex(16)), f.xxhash64(*cells).cast("string")), 256), *cells]
    return frame.repartition(files, *cells).sortWithinPartitions(*cells)


def quoted(name: str) -> str:
    """Return a name as Spark takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
