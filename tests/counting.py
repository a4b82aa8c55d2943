"""What an engine that only counts would tell the verifier of a release, counted on small tables in memory."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kveil.files import Source
from kveil.files.texts import as_texts, exact_values, item_texts
from kveil.policy.model import Policy
from kveil.verifier.alignment import SHOWN, STARRED, VALUE, WAS, Aligned
from kveil.verifier.counts import OriginalCounts, Questions, ReleaseCounts, Totals, questions, was_of
from kveil.verifier.rows import TIMES, ApartColumn

PERSON = "\0person"


def grouped(frame: pl.DataFrame) -> pl.DataFrame:
    """The different lines of a frame with how often each occurs, told apart by the bits of their cells."""
    bits = [exact_values(frame[name]).alias(f"{name} bits") for name in frame.columns if frame[name].dtype != pl.List]
    told_apart = frame.with_columns(bits)
    first = pl.col(frame.columns).first()
    return (
        told_apart.group_by(told_apart.columns)
        .agg(first.name.suffix(" "), pl.len().alias(TIMES))
        .select(*(pl.col(f"{name} ").alias(name) for name in frame.columns), TIMES)
    )


def types_of(source: Source) -> dict[str, pl.DataType]:
    return {name: source.dtype(name) for name in source.columns}


def sets_of(original: Source, policy: Policy, aligned: Aligned, name: str) -> pl.Series:
    """The set of items of every person of the original, as a list."""
    cells = pl.DataFrame({PERSON: aligned.before.row_of, name: original.column(name)})
    missing = as_texts(cells[name]).is_in(policy.data.missing).fill_null(value=True)
    sets = cells.filter(~missing).unique().group_by(PERSON).agg(name)
    everyone = pl.DataFrame({PERSON: range(aligned.before.height)}, schema={PERSON: pl.Int64})
    joined = everyone.join(sets, on=PERSON, how="left", maintain_order="left")
    return joined[name].fill_null(pl.Series([[]], dtype=joined[name].dtype))


def shows_star(frame: pl.DataFrame, names: Sequence[str], asked: Questions) -> pl.Series:
    """The lines that show stars in all of some columns."""
    texts = pl.DataFrame([as_texts(frame[name]).alias(name) for name in names])
    stars = [(pl.col(name).is_in(asked.star_texts, nulls_equal=True)).fill_null(value=False) for name in names]
    return texts.select(pl.all_horizontal(stars).alias("star"))["star"]


def starred_persons(frame: pl.DataFrame, policy: Policy, asked: Questions) -> pl.Series:
    star = shows_star(frame, policy.quasi_identifiers, asked) if policy.quasi_identifiers else None
    for name in policy.with_role("sensitive"):
        column = frame[name]
        sets = item_texts(column) if column.dtype == pl.List else as_texts(column).str.split("|")
        only = ((sets.list.unique().list.len() == 1) & (sets.list.first() == "*")).fill_null(value=False)
        star = only if star is None else star & only
    assert star is not None
    return star


def counted(aligned: Aligned, policy: Policy) -> ReleaseCounts:
    """Everything that the verifier asks for, of a release beside its original."""
    release, original, before = aligned.release, aligned.original, aligned.before
    asked = questions(policy, types_of(release))
    joined = pl.DataFrame([release.column(name) for name in release.columns])
    cells = {
        name: sets_of(original, policy, aligned, name)
        if before.persons and policy.attributes[name].role == "sensitive"
        else original.column(name).gather(before.source)
        for name in [*policy.quasi_identifiers, *asked.beside, *asked.apart]
    }
    joined = joined.with_columns(cells[name].gather(aligned.places).alias(was_of(name)) for name in cells)
    some = pl.Series([False]).new_from_index(0, joined.height)
    for part in asked.parts:
        some |= shows_star(joined, part, asked) if part else some
    keys = [joined[name] for name in asked.rows] + [joined[was_of(name)] for name in asked.beside]
    for name, part in asked.where_starred.items():
        keys.append(
            joined.select(pl.when(shows_star(joined, part, asked)).then(was_of(name)).alias(was_of(name)))[was_of(name)]
        )
    half = [name for name in asked.apart if policy.attributes[name].role == "sensitive"]
    for name in half if some.any() else ():
        keys += [joined.select(pl.when(some).then(c).alias(c))[c] for c in (name, was_of(name))]
    gone = pl.Series([True]).new_from_index(0, before.height).to_frame("gone").with_row_index()
    gone = gone.join(pl.DataFrame({"index": aligned.places}, schema={"index": pl.UInt32}), on="index", how="anti")[
        "index"
    ]
    return ReleaseCounts(
        types_of(release),
        grouped(pl.DataFrame(keys)) if keys else grouped(joined.select()).head(joined.height and 1),
        grouped(joined.select(asked.rows)),
        Totals(release.rows),
        {
            name: apart(joined.filter(~some) if name in half else joined, joined[name], policy, name, asked)
            for name in asked.apart
        },
        OriginalCounts(
            before.height,
            grouped(pl.DataFrame([cells[name].gather(gone) for name in asked.beside]))
            if asked.beside
            else pl.DataFrame({TIMES: [len(gone)]}),
            pairs_of(aligned, policy, joined, asked),
            {name: values_of(aligned, name) for name in policy.quasi_identifiers},
            {names: pl.DataFrame([original.column(name) for name in names]).unique() for names in asked.images},
            Totals(release.rows),
        ),
    )


def pairs_of(aligned: Aligned, policy: Policy, joined: pl.DataFrame, asked: Questions) -> dict[str, pl.DataFrame]:
    person = aligned.before.persons and bool(policy.with_role("sensitive"))
    pairs = {}
    for part in asked.parts:
        star = starred_persons(joined, policy, asked) if person else None
        for name in part:
            own = shows_star(joined, part, asked) if star is None else star
            shown = joined[name]
            if aligned.row_of is not None:
                own, shown = own.gather(aligned.row_of), shown.gather(aligned.row_of)
            was = aligned.original.column(name).gather(aligned.records)
            pairs[name] = grouped(pl.DataFrame({WAS: was, SHOWN: shown, STARRED: own}))
    return pairs


def values_of(aligned: Aligned, name: str) -> pl.DataFrame:
    cells = aligned.original.column(name).alias(VALUE)
    if not aligned.before.persons:
        return grouped(cells.to_frame())
    return grouped(pl.DataFrame({VALUE: cells, PERSON: aligned.before.row_of}).unique().select(VALUE))


def apart(joined: pl.DataFrame, column: pl.Series, policy: Policy, name: str, asked: Questions) -> ApartColumn:
    pairs = joined.select(pl.col(was_of(name)).alias(WAS), pl.col(name).alias(SHOWN))
    differs = as_texts(pairs[WAS]).ne_missing(as_texts(pairs[SHOWN]))
    if pairs[WAS].dtype == pairs[SHOWN].dtype:
        differs |= exact_values(pairs[WAS]).ne_missing(exact_values(pairs[SHOWN]))
    changed = pairs.filter(differs)
    stars = int((as_texts(pairs[SHOWN]) == "*").sum())
    texts = as_texts(column)
    two_ways = bool(texts.null_count() and (texts == policy.data.missing[0]).any())
    values = (
        grouped(column.to_frame(VALUE))
        if name in asked.exact
        else pl.DataFrame(schema={VALUE: pl.String, TIMES: pl.UInt32})
    )
    return ApartColumn(grouped(changed), stars, two_ways, values)
