"""What every use starts with: a table, whether it fits the policy, which row of it each released row is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.databases import Place, read_database
from kveil.engines.choosing import store_of
from kveil.engines.memory import MemoryStore, numbers_held
from kveil.engines.store import Store
from kveil.errors import DataError, PolicyError, Unmeetable
from kveil.files import PLAIN_LAYOUT, FileLayout, Source, check_layout, dataset_files, is_dataset, read_table
from kveil.flow.steps.cancelling import check_process
from kveil.frames import from_frame
from kveil.policy.components import largest_k
from kveil.policy.keys import AlgorithmChoice, algorithm_names, is_algorithm
from kveil.policy.model import Policy
from kveil.progress import Progress
from kveil.report.owner import Owner
from kveil.verifier.dependencies import check_dependency
from kveil.verifier.rows import original_rows, release_rows, rule_texts
from kveil.words import count, did_you_mean, listing

if TYPE_CHECKING:  # what only reads tables need not load how they are encoded
    from kveil.table.table import Table


def read(policy: Policy, path: Place, *, hashed: bool = False) -> Source:
    """Read a table that a policy speaks about."""
    return MemoryStore().read(policy, path, hashed=hashed)


def read_release(policy: Policy, path: Place, *, hashed: bool = False) -> Source:
    """Read a release, which is in UTF-8 whatever the original is in."""
    return MemoryStore().read_release(policy, path, hashed=hashed)


def table_of(frame: Any, policy: Policy) -> Source:
    """Return a frame that a policy speaks about as a source."""
    check_process()
    return numbers_held(from_frame(frame), policy)


def store_for(policy: Policy, *places: Place | None, progress: Progress, local: str = "") -> Store:
    """Return where tables are held that are only read: by the engine that the policy asks for, or that they need.

    ``local`` names something that is asked for and that only the local engine can do. An engine that nobody asked for
    is told as progress.
    """
    chosen = store_of(policy, [place for place in places if place is not None], local=local)
    if chosen.why is not None:
        progress(chosen.why)
    return chosen.store


def with_algorithm(policy: Policy, name: str | None) -> Policy:
    """Return the policy with another algorithm, if one is named; the policy's options stay with the policy's own."""
    if name is None or name == policy.algorithm.name:
        return policy
    if not is_algorithm(name):
        names = algorithm_names()
        hint = did_you_mean(name, names)
        raise PolicyError(f"{name!r} is no algorithm of kveil; there are {listing(names, 20)}{hint or '.'}")
    return policy.model_copy(update={"algorithm": AlgorithmChoice(name=name)})


def check_targets(policy: Policy, source: Place, targets: Iterable[Place | None]) -> None:
    """Raise DataError where two outputs are one file, or one of them is what the run reads."""
    read: Sequence[Place] = [source]
    if isinstance(source, Path) and is_dataset(source):
        read = dataset_files(source)
    inputs = {_resolved(place) for place in (*read, *policy.files)}
    written = [_resolved(place) for place in targets if place is not None]
    if len(set(written)) < len(written) or inputs.intersection(written):
        raise DataError(
            "all outputs must be different files, none of them the input, the policy or a hierarchy; "
            "change one of the names."
        )
    folder = source.resolve() if isinstance(source, Path) and source.is_dir() else None
    if folder is not None and any(isinstance(place, Path) and folder in place.parents for place in written):
        raise DataError(
            f"an output lies in {folder.name}, the folder that is read as the table, and would be part of it the next "
            "time; name another place."
        )


def _resolved(place: Place) -> Place:
    return place.resolve() if isinstance(place, Path) else place


def read_any(place: Place, *, layout: FileLayout = PLAIN_LAYOUT) -> Source:
    """Read a table that no policy speaks about yet."""
    if isinstance(place, Path):
        return read_table(place, layout=layout)
    check_layout(layout, "database", place.name)
    return read_database(place)


def check_input(source: Source, table: Table) -> None:
    """Raise Unmeetable where there are fewer rows than k, DataError where the input breaks a declared rule."""
    check_size(source.name, table)
    check_own_rules(source, table.policy)


def check_size(where: str, table: Table) -> None:
    """Raise Unmeetable where there are fewer rows than k."""
    from kveil.algorithms.impossible import too_few_rows

    k = largest_k(table.policy)
    if table.records < k:
        raise Unmeetable(too_few_rows(where, table, k))


def check_own_rules(source: Source, policy: Policy) -> None:
    """Raise DataError where a table breaks a rule that its policy declares."""
    if policy.dependencies:
        check_rules(source.name, rule_texts(source, policy), policy)


def check_rules(where: str, texts: pl.DataFrame, policy: Policy) -> None:
    """Raise DataError where the input, as texts, breaks a declared rule."""
    for rule in policy.dependencies:
        checked = check_dependency(rule, texts, policy.quasi_identifiers)
        if not checked["holds"]:
            raise DataError(
                f"{where} itself breaks the dependency {rule.rule} for "
                f"{count(checked['broken'], 'left side')}; correct the data or take the rule out."
            )


def check_values(source: Source, table: Table) -> None:
    """Raise Unmeetable where what a sensitive attribute has at all rules a promise out, whatever is shown."""
    from kveil.algorithms.impossible import promises_beyond_values

    for promise in promises_beyond_values(source.name, table):
        raise Unmeetable(promise.why)


def check_released(release: Source, names: Iterable[str]) -> None:
    """Raise DataError where a release lacks columns that a release of its policy has."""
    absent = [name for name in names if name not in release.frame.columns]
    if absent:
        raise DataError(
            f"{release.name} lacks {', '.join(absent)}, which a release of this policy has; check that it is one."
        )


def rows_of(release: Source, original: Source, policy: Policy, owner: Owner | None) -> Longs:
    """Return the input row of every released row, or the person of every released person."""
    released = release_rows(release, policy).height
    return align(owner, policy, released=released, original=original_rows(original, policy).height)


def align(owner: Owner | None, policy: Policy, *, released: int, original: int) -> Longs:
    """Return every released row's input row: by the owner's file, or by position where the order was kept."""
    if owner is None:
        keeps_order = policy.release.order == "keep"
        if keeps_order and released == original:
            return np.arange(released, dtype=np.int64)
        why = (
            f"the release has {released:,} rows and the original {original:,}"
            if keeps_order
            else "the policy does not keep the input's order"
        )
        raise DataError(f"rows cannot be aligned, since {why}; give the owner's file with --owner.")
    if len(owner.rows) != released or owner.input_rows != original:
        raise DataError(
            f"the owner's file is about {len(owner.rows):,} released rows of {owner.input_rows:,}, not {released:,} of "
            f"{original:,}; give the --owner file of this very release."
        )
    if len(owner.rows) and not (owner.rows.min() >= 0 and owner.rows.max() < original):
        raise DataError("the owner's file names rows that the original does not have; check --owner.")
    if np.bincount(owner.rows, minlength=1).max() > 1:
        raise DataError("the owner's file names an input row twice; check --owner.")
    return owner.rows
