"""How a release is written: as the table came in, with nothing that its rows do not show."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import polars as pl

from kveil.files import Source, with_commas, write_table
from kveil.policy.model import Policy


def write_release(frame: pl.DataFrame, source: Source, policy: Policy, file: IO[bytes], target: Path) -> str:
    """Write the release of a source to an open file; return the SHA-256 of its bytes.

    Columns that are released unchanged have the decimal commas, and the codes behind labels, that they came with.
    """
    unchanged = set(policy.unchanged)
    labels = {name: codes for name, codes in source.labels.items() if name in unchanged}
    written = with_commas(frame, source.commas & unchanged)
    return write_table(written, file, target, source.separator, policy.data.missing[0], labels)
