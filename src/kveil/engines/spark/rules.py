"""Declared rules of a table by parts: checked and kept by the different tuples of their attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kveil.algorithms.rules.sides import climb_sides, rule_attributes
from kveil.engines.memory import numbers_held
from kveil.engines.spark.batches import arrow_of
from kveil.engines.spark.driver_tuples import TUPLE_TIMES, in_utc
from kveil.engines.spark.executor_parts import SolvedRows
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.showing import CLASS
from kveil.engines.spark.solving import TOLD
from kveil.engines.spark.units import Units
from kveil.engines.summary import (
    COUNTED,
    FRACTION,
    GONE,
    HIGH,
    IL,
    IS_STAR,
    LABEL,
    LEAF,
    LOW,
    NAME,
    NCP,
    SHOWN_CODE,
    SHOWN_RECORDS,
)
from kveil.files import Source, frame_of
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.table.encode import leaves_of_values
from kveil.table.solution import Shown
from kveil.table.table import Table
from kveil.table.tree import Tree
from kveil.verifier.rows import released_texts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ALONE = "alone"  # whether records show `*` in all attributes that no rule names


def rule_cells(units: Units, policy: Policy) -> pl.DataFrame:
    """Return the different tuples, as texts, that the original has of the columns that rules name."""
    table, names = units.table, rule_attributes(policy)
    with tell_plainly(f"read {table.name}"):
        rows = table.frame.select(*(table.column(name) for name in names)).distinct().toArrow()
    cells = [in_utc(pl.Series(name, pl.from_arrow(rows.column(table.place(name))))) for name in names]
    source = numbers_held(Source(table.name, frame_of(cells), "frame"), policy)
    return pl.DataFrame({name: released_texts(source, policy, name) for name in names}).unique()


@dataclass(frozen=True)
class KeptRules:
    """Solved rows that keep all rules, the counts of what they show, and how many records show something else."""

    solved: SolvedRows
    counts: pl.DataFrame
    records: int


def rules_kept(solved: SolvedRows, whole: Table, counts: pl.DataFrame) -> KeptRules:
    """Let right sides climb until all rules hold; ``counts`` are those of all parts together."""
    names = rule_attributes(whole.policy)
    tuples = _shown_tuples(solved, whole, names)
    shown = {name: _as_shown(whole, name, tuples[name], counts) for name in names}
    climbed = climb_sides(whole, shown, tuples[ALONE].to_numpy(), tuples[TUPLE_TIMES].cast(pl.Int64).to_numpy())
    if not climbed.records:
        return KeptRules(solved, counts, 0)
    new = {name: [own.labels[code] for code in own.codes.tolist()] for name, own in climbed.shown.items()}
    moved = [name for name in names if new[name] != tuples[name].to_list()]
    solved = replace(solved, frame=_with_sides(solved, tuples, names, {name: new[name] for name in moved}))
    others = counts.filter(~pl.col(NAME).is_in(moved) | pl.col(GONE))
    told = [_counted_again(solved, whole, name, climbed.shown[name]) for name in moved]
    return KeptRules(solved, pl.concat([others, *told]), climbed.records)


def _made(solved: SolvedRows, name: str) -> str:
    return f"m{solved.made.index(name)}"


def _released(solved: SolvedRows, whole: Table) -> tuple[DataFrame, Column]:
    """Return the rows of which something is shown, and how many records each stands for."""
    from pyspark.sql import functions as f

    star = f.lit(True)
    for name in whole.names:
        star = star & (f.col(_made(solved, name)) == STAR)
    frame = solved.frame.where((f.col(CLASS) >= 0) & ~f.coalesce(star, f.lit(False)))
    return frame, f.sum(TUPLE_TIMES) if TUPLE_TIMES in frame.columns else f.count(f.lit(1))


def _shown_tuples(solved: SolvedRows, whole: Table, names: Sequence[str]) -> pl.DataFrame:
    """Return the different tuples that the rules' attributes show, with how many records show each."""
    from pyspark.sql import functions as f

    frame, times = _released(solved, whole)
    alone = f.lit(True)
    for name in whole.names:
        if name not in names:
            alone = alone & (f.col(_made(solved, name)) == STAR)
    cells = [f.col(_made(solved, name)).alias(f"s{i}") for i, name in enumerate(names)]
    with tell_plainly("keep the dependencies"):
        rows = frame.groupBy(*cells, alone.alias(ALONE)).agg(times.alias(TUPLE_TIMES)).toArrow()
    held: Any = pl.from_arrow(rows)
    return pl.DataFrame(held).rename({f"s{i}": name for i, name in enumerate(names)})


def _as_shown(whole: Table, name: str, texts: pl.Series, counts: pl.DataFrame) -> Shown:
    """Return texts that parts show as codes: nodes of a tree, or numbers of spans, as the parts counted them."""
    own = counts.filter((pl.col(NAME) == name) & ~pl.col(GONE)).select(LABEL, SHOWN_CODE, NCP, IL, IS_STAR)
    labels = own.unique(LABEL, keep="first", maintain_order=True).sort(LABEL)
    tree = whole.trees[whole.names.index(name)]
    known = labels[LABEL].to_list()
    codes = labels[SHOWN_CODE].to_list() if isinstance(tree, Tree) else range(len(known))
    place = dict(zip(known, codes, strict=True))
    numbers = np.array([place[text] for text in texts.to_list()], dtype=np.int32)
    if isinstance(tree, Tree):
        return Shown.nodes(tree, numbers)
    costs = (labels[NCP].to_numpy(), labels[IL].to_numpy(), labels[IS_STAR].to_numpy().astype(bool))
    return Shown(numbers, tuple(known), *costs)


def _with_sides(
    solved: SolvedRows, tuples: pl.DataFrame, names: Sequence[str], new: Mapping[str, Sequence[str]]
) -> DataFrame:
    """Return solved rows with the right sides that have climbed; tuples go to Spark as a table, never as literals."""
    from pyspark.sql import functions as f

    told = {f"s{i}": tuples[name] for i, name in enumerate(names)}
    told |= {f"n{i}": pl.Series(texts, dtype=pl.String) for i, texts in enumerate(new.values())}
    sides = solved.frame.sparkSession.createDataFrame(arrow_of(pl.DataFrame(told).unique()))
    same = f.col(CLASS) > TOLD
    for i, name in enumerate(names):
        same = same & (f.col(_made(solved, name)) == f.col(f"s{i}"))
    frame = solved.frame.join(f.broadcast(sides), same, "left")
    for i, name in enumerate(new):
        frame = frame.withColumn(_made(solved, name), f.coalesce(f"n{i}", _made(solved, name)))
    return frame.drop(*told)


def _counted_again(solved: SolvedRows, whole: Table, name: str, climbed: Shown) -> pl.DataFrame:
    """Return how many records have which leaf of an attribute and show what for it, once right sides have climbed."""
    from pyspark.sql import functions as f

    frame, times = _released(solved, whole)
    table = solved.rows.units.table
    with tell_plainly("keep the dependencies"):
        rows = frame.groupBy(table.column(name).alias("c"), f.col(_made(solved, name)).alias("s")).agg(times.alias("t"))
        held: Any = pl.from_arrow(rows.toArrow())
    cells = in_utc(held["c"]).alias(name).to_frame()
    source = numbers_held(Source(table.name, cells, "frame"), whole.policy)
    leaf, fraction = leaves_of_values(source, whole, name)
    place = {label: code for code, label in enumerate(climbed.labels)}
    codes = np.array([place[text] for text in held["s"].to_list()], dtype=np.int32)
    counted = {
        NAME: [name] * len(codes),
        LEAF: leaf,
        LOW: leaf,
        HIGH: leaf,
        SHOWN_CODE: codes,
        LABEL: held["s"],
        NCP: climbed.ncp[codes],
        IL: climbed.il[codes],
        IS_STAR: climbed.is_star[codes],
        GONE: [False] * len(codes),
        FRACTION: fraction,
        SHOWN_RECORDS: held["t"],
    }
    return pl.DataFrame(counted).select([pl.col(column).cast(kind) for column, kind in COUNTED.items()])
