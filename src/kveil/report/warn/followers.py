"""Released columns that tell what a quasi-identifier hides: they give it back, or follow from it and narrow it down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from kveil.discover.coded_columns import Columns
from kveil.policy.privacy import named_k
from kveil.report.warn.evidence import Evidence
from kveil.words import count, listing, row_noun


@dataclass(frozen=True)
class _Companions:
    """A quasi-identifier that is hidden somewhere, and released columns that tell something about it.

    Those that give ``back`` nearly always have one value of it beside each of theirs, which says what it is; those that
    only ``follow`` from it have one value for each of its own, and narrow it down. Each comes with the figure that says
    how far: of how many records it gives the value back, and beside how many values each of its own stands.
    """

    name: str
    back: dict[str, int]
    follow: dict[str, tuple[int, int]]


def following_columns(evidence: Evidence) -> list[str]:
    """Warn of columns released as they are that give a quasi-identifier back, and of those that follow from one.

    With the number of rows that fall below k once these columns are counted, too; nothing where none does.
    """
    policy = evidence.policy
    quasi = policy.quasi_identifiers
    others = [
        name
        for name in policy.released
        if name not in quasi and not (evidence.rows.persons and policy.attributes[name].role == "sensitive")
    ]
    sizes = [(k, policy.attributes_of(model)) for model in policy.privacy if (k := named_k(model) or 1) > 1]
    if not others or not sizes or not len(evidence.shown):
        return []
    warnings = []
    records = evidence.original.rows if evidence.original_times is None else int(evidence.original_times.sum())
    for found in _companions(evidence, quasi, others):
        for columns in (list(found.back), list(found.follow)):
            fallen = [(_below(evidence, names, columns, k), k) for k, names in sizes if found.name in names]
            below, k = max(fallen, default=(0, 0)) if columns else (0, 0)
            if below:
                noun = row_noun(people=bool(evidence.rows.persons))
                told = _describe_back(found, records) if columns[0] in found.back else _describe_follow(found)
                warnings.append(
                    f"{told} Counted with the quasi-identifiers, {count(below, noun)} of {evidence.number:,} fall "
                    f"below k {k}. Give role quasi-identifier to what others may know."
                )
    return warnings


def _describe_back(found: _Companions, records: int) -> str:
    """Say which columns give a quasi-identifier back, and of how many records."""
    columns = list(found.back)
    if len(columns) == 1:
        known = f"whoever sees it knows {found.name} of {found.back[columns[0]]:,} of {count(records, 'record')}"
        return f"{columns[0]} gives {found.name} back, or nearly so, and is released as in the table: {known}."
    each = listing([f"{name} of {known:,}" for name, known in found.back.items()])
    return (
        f"{listing(columns)} each give {found.name} back, or nearly so, and are released as in the table: of "
        f"{count(records, 'record')} whoever sees one of them knows {found.name} of most, by {each}."
    )


def _describe_follow(found: _Companions) -> str:
    """Say which columns follow from a quasi-identifier without giving it back, and how far they narrow it down."""
    columns = list(found.follow)
    beside = [f"{low:,}" if low == high else f"{low:,} to {high:,}" for low, high in found.follow.values()]
    if len(columns) == 1:
        values = f"each of its values stands beside {beside[0]} of {found.name}"
        return (
            f"{columns[0]} follows from {found.name}, or nearly so, and is released as in the table: it does not give "
            f"{found.name} back, but narrows it down ({values})."
        )
    others = [f", each of {name} beside {values}" for name, values in zip(columns[1:], beside[1:], strict=True)]
    each = f"each value of {columns[0]} stands beside {beside[0]} of it" + "".join(others)
    return (
        f"{listing(columns)} each follow from {found.name}, or nearly so, and are released as in the table: they do "
        f"not give {found.name} back, but narrow it down ({each})."
    )


def _companions(evidence: Evidence, quasi: list[str], others: list[str]) -> Iterator[_Companions]:
    """Return each quasi-identifier that is hidden somewhere, with the columns that give it back or follow from it."""
    texts = {name: evidence.original.held(name) for name in [*quasi, *others]}
    columns = Columns(pl.DataFrame(texts), times=evidence.original_times, of_record=evidence.of_record)
    place = {name: i for i, name in enumerate(columns.names)}
    for name in quasi:
        shown = evidence.column(name)
        was = texts[name].gather(evidence.records).cast(pl.String).fill_null(evidence.policy.data.missing[0])
        if bool((was == pl.Series(shown.texts, dtype=pl.String).gather(shown.codes)).all()):
            continue
        back = [other for other in others if columns.nearly_follows(place[other], place[name])]
        follow = [other for other in others if other not in back and columns.nearly_follows(place[name], place[other])]
        if back or follow:
            yield _Companions(
                name,
                {other: columns.right_guesses(place[other], place[name]) for other in back},
                {other: columns.spread(place[other], place[name]) for other in follow},
            )


def _below(evidence: Evidence, names: tuple[str, ...], columns: list[str], k: int) -> int:
    """Return how many rows fall below k by counting more columns, of those that do not without."""
    alone, together = evidence.groups(names).own, evidence.groups([*names, *columns]).own
    return evidence.count((alone >= k) & (together < k))
