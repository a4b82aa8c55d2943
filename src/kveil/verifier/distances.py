"""Distances of t-closeness (Li et al. 2007), between a group's distribution and that of all rows that take part."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import polars as pl

from kveil.arrays import Floats, Longs
from kveil.policy.attributes import STAR, Hierarchy, Intervals
from kveil.policy.builders import is_real
from kveil.policy.interval_scale import IntervalScale
from kveil.policy.lines import Line, in_preorder
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number
from kveil.policy.privacy import TCloseness
from kveil.verifier.rows import ITEM

GROUP = "\0group"
COUNT = "\0count"


def per_group(frame: pl.DataFrame, expression: pl.Expr, number: int, empty: float) -> Floats:
    """Return an aggregate of every group's entries, ``empty`` for groups that have none.

    Sums of fractions depend on the order of entries, so that of a frame must not be left to chance.
    """
    totals = np.full(number, empty, dtype=np.float64)
    if frame.height:
        counted = frame.group_by(GROUP).agg(expression.alias(COUNT))
        totals[counted[GROUP].to_numpy()] = counted[COUNT].cast(pl.Float64).to_numpy()
    return totals


def distances(
    model: TCloseness, policy: Policy, histogram: pl.DataFrame, number: int, *, everyone: pl.DataFrame | None = None
) -> Floats:
    """Return every group's distance to the distribution of all rows that take part; missing is a value here.

    ``histogram`` has how many rows of each of ``number`` groups have each item; ``everyone`` is that of all rows, where
    the groups are only some of them.
    """
    entries = histogram.with_columns((pl.col(COUNT) / pl.col(COUNT).sum().over(GROUP)).alias("p"))
    whole = (histogram if everyone is None else everyone).group_by(ITEM).agg(pl.col(COUNT).sum())
    whole = whole.sort(ITEM).select(ITEM, (pl.col(COUNT) / pl.col(COUNT).sum()).alias("q"))
    if model.distance == "hierarchical":
        return _over_tree(model, policy, entries, whole, number)
    joined = entries.join(whole, on=ITEM, how="left", nulls_equal=True, maintain_order="left")
    if model.distance == "equal":
        gain = per_group(joined, ((pl.col("p") - pl.col("q")).abs() - pl.col("q")).sum(), number, 0.0)
        return 0.5 * (1.0 + gain) if number else gain
    order = {item: place for place, item in enumerate(_ordered_items(model, policy, whole[ITEM].to_list()))}
    reference = np.zeros(len(order))
    reference[[order[item] for item in whole[ITEM].to_list()]] = whole["q"].to_numpy()
    place = pl.Series("place", [order[item] for item in entries[ITEM].to_list()], dtype=pl.Int64)
    laid = entries.with_columns(place).sort(GROUP, "place")
    work = _work(laid[GROUP].to_numpy().astype(np.int64), laid["place"].to_numpy(), laid[COUNT].to_numpy(), reference)
    totals = np.zeros(number)
    totals[: len(work)] = work
    return totals / max(len(order) - 1, 1)


def _work(group: Longs, place: Longs, counts: Longs, reference: Floats) -> Floats:
    """Return for every group Σ |P − Q| over all places, P and Q the shares up to a place; O(entries · log places).

    Entries are sorted by group and place. P is the same from one entry of a group to the next, and Q never falls, so
    a run of places is Q below P first and above it then: two differences of Q's running total.
    """
    number, places = int(group.max(initial=-1)) + 1, len(reference)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    last = np.append(np.flatnonzero(np.diff(group)), len(group) - 1)
    running = np.append(0, np.cumsum(counts))
    entries = last + 1 - first
    before, size = running[first], running[last + 1] - running[first]
    share = (running[1:] - np.repeat(before, entries)) / np.repeat(size, entries)
    ends = np.append(place[1:], places)
    ends[last] = places
    # In front of a group's first entry its P is 0.
    level = np.concatenate([share, np.zeros(len(first))])
    begin = np.concatenate([place, np.zeros(len(first), dtype=np.int64)])
    end = np.concatenate([ends, place[first]])
    up_to = np.cumsum(reference)
    total = np.append(0.0, np.cumsum(up_to))
    turn = np.clip(np.searchsorted(up_to, level), begin, end)
    work = level * (2 * turn - begin - end) + total[end] + total[begin] - 2 * total[turn]
    return np.bincount(np.concatenate([group, group[first]]), weights=work, minlength=number).astype(np.float64)


def _ordered_items(model: TCloseness, policy: Policy, items: list[str | None]) -> list[str | None]:
    """Return items in numeric order, else in the leaf order of their hierarchy, else by text; missing comes last."""
    present = [item for item in items if item is not None]
    numbers = {item: parse_number(item) for item in present}
    absent: list[str | None] = [None] if None in items else []
    if all(number is not None for number in numbers.values()):
        return [*sorted(present, key=lambda item: (numbers[item], item)), *absent]
    lines = policy.fixed_lines(model.sensitive)
    if lines is None:
        return [*sorted(present), *absent]
    place = {label: at for at, label in enumerate(in_preorder(lines.lines))}  # an inner node before what it covers
    return [*sorted(present, key=lambda item: (place.get(item, len(place)), item)), *absent]


def _over_tree(model: TCloseness, policy: Policy, entries: pl.DataFrame, whole: pl.DataFrame, number: int) -> Floats:
    """Return earth mover's distances with height(LCA) / height(tree) as the ground distance.

    That is a tree metric: an edge weighs half the fall in height along it, and what crosses it is the
    difference of the shares below.
    """
    items: list[str | None] = whole[ITEM].to_list()
    line_of = _lines(model, policy, items)
    height = _heights(policy.attributes[model.sensitive].hierarchy, line_of)
    tallest = max(height.values(), default=0) or 1
    steps = [
        (item, line[at], (height[line[at + 1]] - height[line[at]]) / (2 * tallest))
        for item in items
        for line in (line_of.get(item, ()),)
        for at in range(len(line) - 1)
    ]
    ways = pl.DataFrame(
        {ITEM: [s[0] for s in steps], "node": [s[1] for s in steps], "weight": [s[2] for s in steps]},
        schema={ITEM: pl.String, "node": pl.String, "weight": pl.Float64},
    )
    shares = whole.join(ways, on=ITEM, nulls_equal=True, maintain_order="left_right").group_by("node")
    below = shares.agg(pl.col("q").sum(), pl.col("weight").first()).sort("node")
    masses = entries.join(ways, on=ITEM, nulls_equal=True, maintain_order="left_right").group_by(GROUP, "node")
    mass = masses.agg(pl.col("p").sum()).sort(GROUP, "node")
    joined = mass.join(below, on="node", how="left", maintain_order="left")
    gain = pl.col("weight") * ((pl.col("p") - pl.col("q")).abs() - pl.col("q"))
    rest = float((below["weight"] * below["q"]).sum())
    return per_group(joined, gain.sum(), number, 0.0) + (rest if number else 0.0)


def _heights(spec: Hierarchy | None, line_of: dict[str | None, Line]) -> dict[str, int]:
    """Return the most edges from every label down to a leaf; intervals have all numbers of their scale as leaves."""
    height: dict[str, int] = {}
    for line in line_of.values():
        for edges, label in enumerate(line):
            height[label] = max(height.get(label, 0), edges)
    if isinstance(spec, Intervals):
        values = {item: parse_number(item) for item in line_of if item is not None}
        scale = IntervalScale(spec, real=is_real(values))
        for number in values.values():
            for level, width in enumerate(spec.widths):
                low, high = scale.bounds(number or Decimal(0), width)
                height[scale.label(low, high)] = scale.height(low, level)
        height[STAR] = max(height.get(STAR, 0), scale.tallest)
    return height


def _lines(model: TCloseness, policy: Policy, items: list[str | None]) -> dict[str | None, Line]:
    """Return the way up of every leaf of a sensitive attribute's tree.

    Directly under the root hangs missing. Where items are generalized, what an inner node hides hangs under that node.
    """
    ways = policy.ways_up(model.sensitive, [item for item in items if item is not None])
    lines: dict[str | None, Line] = {leaf: ways.of(leaf) for leaf in ways.leaves}
    for line in [*lines.values()]:
        for place, label in enumerate(line):
            if place and label in items:
                lines[label] = (f"\0hidden {label}", *line[place:])
    if ways.root in items:
        lines[ways.root] = (f"\0hidden {ways.root}", ways.root)
    if None in items:
        lines[None] = ("\0missing", ways.root)
    return lines
