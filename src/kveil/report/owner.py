"""The owner's private file: which input row each released row is, and why records were suppressed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from kveil.arrays import Longs
from kveil.errors import DataError
from kveil.version import __version__


class HashedRows(TypedDict):
    """How many rows a table has, and the SHA-256 of its file where there is one."""

    rows: int
    sha256: str | None


class OwnerContent(TypedDict):
    """What the owner's file holds."""

    kveil: str
    private: str
    input: HashedRows
    release: HashedRows
    rows: list[int]
    suppressed: dict[str, list[int]]


@dataclass(frozen=True)
class Owner:
    """The way back from a release to its input; whoever has it and the input can identify everyone.

    ``rows`` has for each released row its input row, counted from 0; the file counts from 1. Where the policy names
    individuals, rows are people, in the order of their first record. Its ``repr`` tells none of that.
    """

    rows: Longs
    input_rows: int
    suppressed: Mapping[str, NDArray[np.int32]]
    input_sha256: str | None = None
    release_sha256: str | None = None

    def __repr__(self) -> str:
        return f"Owner(private: {len(self.rows):,} released rows of {self.input_rows:,})"

    def as_json(self) -> OwnerContent:
        """Return the file's content."""
        return {
            "kveil": __version__,
            "private": "Whoever has this file and the input can identify everyone in the release. Keep it to yourself.",
            "input": {"rows": self.input_rows, "sha256": self.input_sha256},
            "release": {"rows": len(self.rows), "sha256": self.release_sha256},
            "rows": (self.rows + 1).tolist(),
            "suppressed": {reason: (rows + 1).tolist() for reason, rows in self.suppressed.items()},
        }

    @classmethod
    def load(cls, path: str | Path) -> Owner:
        """Read an owner's file."""
        path = Path(path)
        try:
            content = json.loads(path.read_bytes())
            return cls(
                _numbers(content["rows"], np.int64),
                int(content["input"]["rows"]),
                {reason: _numbers(rows, np.int32) for reason, rows in content["suppressed"].items()},
                content["input"]["sha256"],
                content["release"]["sha256"],
            )
        except OSError as error:
            raise DataError(
                f"{path.name}: the owner's file cannot be read ({error.strerror}); check --owner."
            ) from None
        except (ValueError, KeyError, TypeError, OverflowError, AttributeError, RecursionError):
            raise DataError(f"{path.name} is no owner's file of kveil; give the one --owner wrote.") from None


def _numbers(rows: list[Any], kind: type) -> NDArray[Any]:
    """Return row numbers of the file, which count from 1, as they count from 0."""
    if not set(map(type, rows)) <= {int}:
        raise TypeError("row numbers are whole numbers")
    return np.array(rows, dtype=kind) - 1
