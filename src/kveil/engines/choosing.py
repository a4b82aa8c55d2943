"""Which engine a run takes: the one that is asked for, else the one that the memory of the machine allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kveil.databases import Address, Place
from kveil.engines.memory import MemoryStore
from kveil.engines.store import Store
from kveil.errors import FileError, Refused
from kveil.files import dataset_files, free_memory, is_dataset, kind_of
from kveil.policy.model import Policy

PER_CELL = 60  # bytes of memory that a run of the local engine takes per cell of its input, measured
GB = 1e9


@dataclass(frozen=True)
class ChosenStore:
    """An engine's store, with the sentence about why it was taken, where nobody asked for it."""

    store: Store
    why: str | None = None


def store_of(policy: Policy, inputs: Sequence[Place], *, output: Place | None = None, local: str = "") -> ChosenStore:
    """Return the store of the engine that a policy asks for, or that its inputs need.

    ``output`` is the release that will be written; ``local`` names something that is asked for and that only the local
    engine can do. What an engine cannot do is refused here, before anything is read.
    """
    if policy.engine == "local":
        return ChosenStore(MemoryStore())
    if policy.engine == "spark":
        raise Refused("engine spark cannot do this yet; take engine local or stream.")
    cannot = _cannot_stream(inputs, output, local)
    if policy.engine == "stream":
        if cannot is not None:
            raise Refused(f"engine stream {cannot}, or take engine local.")
        return ChosenStore(_stream_store())
    if cannot is not None:
        return ChosenStore(MemoryStore())
    needed, free = sum(map(_needed, inputs)), free_memory()
    if free is None or needed <= free:
        return ChosenStore(MemoryStore())
    return ChosenStore(
        _stream_store(),
        f"engine stream was taken, since the table would need about {needed / GB:.1f} GB of memory and "
        f"{free / GB:.1f} GB are free; the release is the same on both.",
    )


def refuse_on_spark(local: str) -> None:
    """Raise Refused where a run on Spark is asked for something that only the local engine can do."""
    if local:
        raise Refused(f"engine spark has no {local}; leave it out, or take engine local.")


def refuse_earlier(policy: Policy, given: Sequence[object]) -> None:
    """Raise Refused where a run on Spark is to hold together with earlier releases, before any of these is opened."""
    refuse_on_spark("--previous" if given else "previous, which the policy names" if policy.previous else "")


def check_on_spark(inputs: Sequence[Place], *, output: Place | None = None) -> None:
    """Raise Refused where tables are none of those that Spark reads and writes here, FileError where there is none."""
    for place in inputs:
        catalog = isinstance(place, Address) and place.system == "spark"
        if isinstance(place, Path) and not place.suffix and not is_dataset(place) and not place.exists():
            raise FileError(f"{place.name}: there is no such file or folder; check the path.")
        if not catalog and (not isinstance(place, Path) or (not is_dataset(place) and kind_of(place) != "parquet")):
            raise Refused(
                f"engine spark reads Parquet files and tables of its catalog, and {place.name} is none; convert it "
                "first, or take engine local."
            )
    if output is not None and (not isinstance(output, Path) or output.suffix.lower() not in {"", ".parquet"}):
        raise Refused(
            f"engine spark writes a folder of Parquet files, and {output.name} is to be something else; name a folder, "
            "or take engine local."
        )


def _stream_store() -> Store:
    from kveil.engines.stream import StreamStore  # few runs need it

    return StreamStore()


def _cannot_stream(inputs: Sequence[Place], output: Place | None, local: str) -> str | None:
    """Return what the stream engine cannot do of what is asked for, and what to do instead; None where it can."""
    for place in inputs:
        if not isinstance(place, Path) or (not is_dataset(place) and kind_of(place) != "parquet"):
            return f"reads Parquet files, and {place.name} is none; convert it first"
    if output is not None and (not isinstance(output, Path) or kind_of(output) != "parquet"):
        return f"writes Parquet files, and {output.name} is to be another; name one that ends in .parquet"
    if isinstance(output, Path) and output.exists() and not output.is_file():
        return f"reads its release back, and {output.name} is no regular file; name one"
    return f"has no {local}; leave it out" if local else None


def _needed(path: Place) -> int:
    """Return how many bytes the local engine would need for a table, by the number of its cells; 0 where unreadable."""
    cells = 0
    if not isinstance(path, Path):
        return 0
    try:
        for file in dataset_files(path) if is_dataset(path) else [path]:
            scanned = pl.scan_parquet(file, glob=False, hive_partitioning=False)
            cells += len(scanned.collect_schema()) * int(scanned.select(pl.len()).collect().item())
    except (OSError, pl.exceptions.PolarsError):  # whoever reads it says what is wrong with it
        return 0
    return cells * PER_CELL
