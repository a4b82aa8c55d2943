"""The models, counted on released texts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.guarantee import Guarantee, NamedModel, SetFigures
from kveil.policy.model import Policy
from kveil.policy.privacy import (
    AlphaK,
    KAnonymity,
    KKmAnonymity,
    KLDiversity,
    LDiversity,
    PrivacyModel,
    PSensitive,
    TCloseness,
)
from kveil.verifier.distances import COUNT, GROUP, distances, per_group
from kveil.verifier.exact import above
from kveil.verifier.fingerprints import check_kkm, check_kl
from kveil.verifier.rows import ITEM, ROW, SIZE, Rows
from kveil.words import count, model_in_words


@dataclass(frozen=True)
class Judgement:
    """Which groups break a model, the figure of the worst one (None where it has none), and further figures."""

    broken: Bools
    worst: float | int | None
    extra: SetFigures = field(default_factory=SetFigures)


CHECKED = {
    "k-anonymity", "l-diversity", "p-sensitive", "alpha-k", "t-closeness", "kl-diversity", "k-km-anonymity"
}  # fmt: skip
TOLERANCE = 1e-9  # for logarithms and distances; counts are compared exactly


def can_check(model: PrivacyModel) -> bool:
    """Tell whether this version can verify a model."""
    return model.model in CHECKED


def parameters(model: PrivacyModel, attributes: tuple[str, ...]) -> NamedModel:
    """Return a model as receipts name it."""
    settings: dict[str, int | float | str | list[str]] = {}
    for key, value in model.model_dump(exclude={"model", "attributes"}, exclude_none=True).items():
        if isinstance(value, Decimal):
            settings[key] = int(value) if value == int(value) else float(value)
        else:
            settings[key] = list(value) if isinstance(value, tuple) else value
    return {"model": model.model, "attributes": list(attributes), **cast(NamedModel, settings)}


def check_model(model: PrivacyModel, policy: Policy, rows: Rows, taking_part: pl.Series) -> tuple[Guarantee, list[str]]:
    """Return a model's guarantee on the rows that take part, and what was found against it.

    ``worst`` is what comes nearest to breaking the model: the smallest group for k, the fewest values, the
    largest share or distance.
    """
    attributes = policy.attributes_of(model)
    if isinstance(model, (KLDiversity, KKmAnonymity)):
        counted = taking_part.to_numpy()
        if isinstance(model, KLDiversity):
            figures = check_kl(model, policy, rows, counted)
        else:
            figures = check_kkm(model, policy, rows, counted)
        holds = not figures.findings
        told = as_guarantee(model, attributes, figures.worst, figures.groups, figures.extra, holds=holds)
        return told, figures.findings
    if isinstance(model, KAnonymity):
        groups = rows.groups(attributes) if taking_part.all() else _groups_of(rows, attributes, taking_part)
        sizes = groups[SIZE].cast(pl.Int64).to_numpy()
        judgement = Judgement(sizes < model.k, int(sizes.min()) if len(sizes) else None)
    else:
        sizes, histogram = _histogram(rows, attributes, rows.items[model.sensitive], taking_part)
        judgement = judge(model, policy, sizes, histogram, everyone=_everyone(rows, model.sensitive))
    broken = judgement.broken
    guarantee = as_guarantee(model, attributes, judgement.worst, len(sizes), judgement.extra, holds=not broken.any())
    if not broken.any():
        return guarantee, []
    return guarantee, [
        f"{name_of(model)} over {', '.join(attributes)} does not hold in {count(int(broken.sum()), 'group')} with "
        f"{count(int(sizes[broken].sum()), rows.noun)}; the worst is {_round(judgement.worst)}."
    ]


def _everyone(rows: Rows, sensitive: str) -> pl.DataFrame | None:
    """Return how many of a whole release have each value, where rows are a slice of it; None where they are all."""
    if rows.whole is None or sensitive not in rows.whole.items:
        return None
    return rows.whole.items[sensitive].select(ITEM, pl.col(SIZE).cast(pl.Int64).alias(COUNT))


def holds_as_one_group(model: PrivacyModel, policy: Policy, rows: Rows, group: pl.Series, everyone: pl.Series) -> bool:
    """Tell whether some rows, taken as one group among everyone who takes part, satisfy a model."""
    sizes = np.array([rows.count(group)], dtype=np.int64)
    if isinstance(model, (KLDiversity, KKmAnonymity)):
        return not check_model(model, policy, rows, group)[1]
    if isinstance(model, KAnonymity):
        return bool(sizes[0] >= model.k)
    items = rows.items[model.sensitive].with_columns(pl.lit(0, dtype=pl.UInt32).alias(GROUP))

    def counted(part: pl.Series) -> pl.DataFrame:
        inside = items.filter(part.gather(items[ROW]))
        return in_one_order(rows.tally(inside, [GROUP, ITEM], COUNT, rows=inside[ROW].to_numpy()))

    return not judge(model, policy, sizes, counted(group), everyone=counted(everyone)).broken.any()


def as_guarantee(
    model: PrivacyModel,
    attributes: tuple[str, ...],
    worst: float | int | None,
    groups: int,
    extra: SetFigures,
    *,
    holds: bool,
) -> Guarantee:
    """Return a model with its settings and figures."""
    return {**parameters(model, attributes), "holds": holds, "worst": worst, "groups": groups, **extra}


def name_of(model: PrivacyModel) -> str:
    """Return a model with its settings, as findings name it."""
    return model_in_words(parameters(model, ()))


def _round(worst: Any) -> str:
    return "unbounded" if worst is None else f"{worst:.6g}"


def _groups_of(rows: Rows, attributes: tuple[str, ...], taking_part: pl.Series) -> pl.DataFrame:
    """Return the groups of some rows, with how many records or persons each has."""
    texts = rows.texts.select(attributes).filter(taking_part)
    return rows.tally(texts, attributes, SIZE, rows=np.flatnonzero(taking_part.to_numpy()))


def _histogram(
    rows: Rows, attributes: tuple[str, ...], items: pl.DataFrame, taking_part: pl.Series
) -> tuple[Longs, pl.DataFrame]:
    """Return the groups' sizes, and how many records or persons of each group have each item."""
    groups = _groups_of(rows, attributes, taking_part).with_row_index(GROUP)
    texts = rows.texts.select(attributes).with_columns(pl.Series(ROW, np.arange(rows.height, dtype=np.int64)))
    numbered = texts.filter(taking_part).join(groups.drop(SIZE), on=list(attributes), how="left", nulls_equal=True)
    laid = numbered.select(ROW, GROUP).join(items, on=ROW, how="inner")
    counted = rows.tally(laid, [GROUP, ITEM], COUNT, rows=laid[ROW].to_numpy())
    return groups[SIZE].cast(pl.Int64).to_numpy(), in_one_order(counted)


def in_one_order(counted: pl.DataFrame) -> pl.DataFrame:
    """Return counts in one order, whatever that of the rows was: sums of shares then have the same last digit."""
    return counted.with_columns(pl.col(COUNT).cast(pl.Int64)).sort(GROUP, ITEM)


def _count_per_group(frame: pl.DataFrame, expression: pl.Expr, number: int) -> Longs:
    """Return a count of every group's entries, 0 for groups that have none."""
    return per_group(frame, expression, number, 0).astype(np.int64)


def judge(
    model: PrivacyModel, policy: Policy, sizes: Longs, histogram: pl.DataFrame, *, everyone: pl.DataFrame | None = None
) -> Judgement:
    """Return which groups break a model, the worst group's figure, and further figures.

    ``histogram`` has how many rows of every group have each item; ``everyone`` is that of all rows that take part,
    where the groups are only some of them.
    """
    number = len(sizes)
    known = histogram.filter(pl.col(ITEM).is_not_null())
    some = number > 0
    if isinstance(model, PSensitive) or (isinstance(model, LDiversity) and model.variant == "distinct"):
        values = _count_per_group(known, pl.len(), number)
        least = model.p if isinstance(model, PSensitive) else int(model.l)
        return Judgement(values < least, int(values.min()) if some else None)
    if isinstance(model, LDiversity) and model.variant == "entropy":
        shares = known.with_columns((pl.col(COUNT) / pl.col(COUNT).sum().over(GROUP)).alias("share"))
        entropy = per_group(shares, -(pl.col("share") * pl.col("share").log()).sum(), number, 0.0)
        return Judgement(entropy < math.log(model.l) - TOLERANCE, float(np.exp(entropy.min())) if some else None)
    if isinstance(model, LDiversity) and model.variant == "recursive":
        return _recursive(known, int(model.l), Fraction(str(model.c)), number)
    if isinstance(model, LDiversity):
        most = _count_per_group(known, pl.col(COUNT).max(), number)
        told = most > 0  # a group of nothing but missing values cannot be too uniform
        least_l = float((sizes[told] / most[told]).min()) if told.any() else None
        return Judgement(above(most, 1 / Fraction(str(model.l)), sizes), least_l)
    if isinstance(model, AlphaK):
        most = _count_per_group(histogram, pl.col(COUNT).max(), number)
        broken = above(most, Fraction(str(model.alpha)), sizes) | (sizes < model.k)
        share = float((most / sizes).max()) if some else None
        return Judgement(broken, share, {"smallest": int(sizes.min()) if some else None})
    assert isinstance(model, TCloseness)
    distance = distances(model, policy, histogram, number, everyone=everyone)
    return Judgement(distance > float(model.t) + TOLERANCE, float(distance.max()) if some else None)


def _recursive(known: pl.DataFrame, least: int, c: Fraction, number: int) -> Judgement:
    ranked = known.sort(COUNT, descending=True).with_columns(pl.int_range(pl.len()).over(GROUP).alias("rank"))
    first = _count_per_group(ranked.filter(pl.col("rank") == 0), pl.col(COUNT).sum(), number)
    tail = _count_per_group(ranked.filter(pl.col("rank") >= least - 1), pl.col(COUNT).sum(), number)
    broken = ~above(tail, 1 / c, first)  # first < c · tail
    if not number:
        return Judgement(broken, None)
    return Judgement(broken, None if (tail == 0).any() else float((first / tail).max()))
