"""Which groups of a release somebody may be in, for an attacker who knows the person's own values."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal

import polars as pl

from kveil.policy.attributes import STAR, Ranges
from kveil.policy.builders import label_writer
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number, parse_span
from kveil.verifier.distances import GROUP

PREFIX, NEXT, KNOWN, VALUE, LABEL = "prefix", "next", "known", "value", "label"


class SortedNumbers:
    """Texts of numbers in the order of these, so that those inside a span are found by halving."""

    def __init__(self, texts: Iterable[str]) -> None:
        numbers = sorted((number, text) for text in texts if (number := parse_number(text)) is not None)
        self.numbers = [number for number, _ in numbers]
        self.texts = pl.Series([text for _, text in numbers], dtype=pl.String)

    def inside(self, span: tuple[Decimal, Decimal]) -> pl.Series:
        """Return the texts whose numbers lie inside a span, bounds included."""
        return self.texts[bisect_left(self.numbers, span[0]) : bisect_right(self.numbers, span[1])]


def groups_that_fit(policy: Policy, groups: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Return the groups that every row of known values fits: pairs of the row, by its number, and a group.

    ``groups`` has a release's groups with what they show; ``known`` the same attributes as texts of an original. Both
    are walked attribute by attribute, through the beginnings of tuples that groups have: O(pairs that fit so far).
    """
    names = [name for name in groups.columns if name != GROUP]
    reached = known.with_row_index(KNOWN).select(pl.col(KNOWN).cast(pl.Int64), pl.lit(0, dtype=pl.Int64).alias(PREFIX))
    own = groups.select(GROUP, pl.lit(0, dtype=pl.Int64).alias(PREFIX))
    for name in names:
        own = own.with_columns(groups[name].alias(LABEL))
        edges = own.select(PREFIX, LABEL).unique(maintain_order=True).with_row_index(NEXT)
        edges = edges.with_columns(pl.col(NEXT).cast(pl.Int64))
        own = own.join(edges, on=[PREFIX, LABEL], how="left", maintain_order="left")
        own = own.select(GROUP, pl.col(NEXT).alias(PREFIX))
        values = known[name].unique().to_list()
        covers = _covers(policy, name, values, groups[name].unique().to_list())
        reached = reached.with_columns(known[name].gather(reached[KNOWN]).alias(VALUE))
        reached = reached.join(covers, on=VALUE).join(edges, on=[PREFIX, LABEL])
        reached = reached.select(KNOWN, pl.col(NEXT).alias(PREFIX))
    return reached.join(own, on=PREFIX).select(KNOWN, GROUP)


def _covers(policy: Policy, name: str, values: Sequence[str], shown: Sequence[str]) -> pl.DataFrame:
    """Return which shown labels may stand for which values of an attribute."""
    there = set(shown)
    inside: list[pl.DataFrame] = []
    if isinstance(policy.attributes[name].hierarchy, Ranges):
        numbers = SortedNumbers(values)
        spans = {label: span for label in shown if (span := parse_span(label)) is not None}
        inside = [
            pl.DataFrame({VALUE: numbers.inside(span)}).with_columns(pl.lit(label).alias(LABEL))
            for label, span in spans.items()
        ]
        above = {value: {value, STAR} - set(spans) for value in values}
    else:
        ways, writer = policy.ways_up(name, values), label_writer(policy.attributes[name].hierarchy, list(shown))
        above = {value: {value, *map(writer, ways.of(value)), ways.root, STAR} for value in values}
    pairs = [(value, label) for value, labels in above.items() for label in labels & there]
    return pl.concat([*inside, pl.DataFrame(pairs, schema={VALUE: pl.String, LABEL: pl.String}, orient="row")])
