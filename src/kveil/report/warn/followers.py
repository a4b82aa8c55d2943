"""Released columns that tell what a quasi-identifier hides: they follow from it, or give it back."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from kveil.discover.coded_columns import Columns
from kveil.policy.privacy import named_k
from kveil.report.warn.evidence import Evidence
from kveil.words import count, listing, row_noun


def following_columns(evidence: Evidence) -> list[str]:
    """Warn of columns released as they are that nearly follow from a quasi-identifier, or that it follows from.

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
    for name, followers in _followers(evidence, quasi, others):
        fallen = [(_below(evidence, names, followers, k), k) for k, names in sizes if name in names]
        below, k = max(fallen, default=(0, 0))
        if below:
            noun = row_noun(people=bool(evidence.rows.persons))
            verb = "tells" if len(followers) == 1 else "tell"
            warnings.append(
                f"{listing(followers)} {verb} {name}, or nearly so, and {'is' if verb == 'tells' else 'are'} released "
                f"as in the table: counted with the quasi-identifiers, {count(below, noun)} of "
                f"{evidence.number:,} fall below k {k}. Give role quasi-identifier to what others may know."
            )
    return warnings


def _followers(evidence: Evidence, quasi: list[str], others: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Return each quasi-identifier that is hidden somewhere, with the columns that tell it or that it tells."""
    texts = {name: evidence.original.held(name) for name in [*quasi, *others]}
    columns = Columns(pl.DataFrame(texts), times=evidence.original_times, of_record=evidence.of_record)
    place = {name: i for i, name in enumerate(columns.names)}
    for name in quasi:
        shown = evidence.column(name)
        was = texts[name].gather(evidence.records).cast(pl.String).fill_null(evidence.policy.data.missing[0])
        if bool((was == pl.Series(shown.texts, dtype=pl.String).gather(shown.codes)).all()):
            continue
        followers = [
            other
            for other in others
            if columns.nearly_follows(place[name], place[other]) or columns.nearly_follows(place[other], place[name])
        ]
        if followers:
            yield name, followers


def _below(evidence: Evidence, names: tuple[str, ...], followers: list[str], k: int) -> int:
    """Return how many rows fall below k by counting more columns, of those that do not without."""
    alone, together = evidence.groups(names).own, evidence.groups([*names, *followers]).own
    return evidence.count((alone >= k) & (together < k))
