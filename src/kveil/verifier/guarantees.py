"""The models and the dependencies, counted on released texts."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.policy.attributes import STAR, Hierarchy, Intervals
from kveil.policy.builders import IntervalScale, is_real
from kveil.policy.dependencies import Dependency
from kveil.policy.lines import Line
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number
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
from kveil.verifier.fingerprints import check_kkm, check_kl
from kveil.verifier.rows import ITEM, ROW, Rows
from kveil.words import count

CHECKED = {
    "k-anonymity", "l-diversity", "p-sensitive", "alpha-k", "t-closeness", "kl-diversity", "k-km-anonymity"
}  # fmt: skip
TOLERANCE = 1e-9  # for logarithms and distances; counts are compared exactly
GROUP = "\0group"
COUNT = "\0count"


def can_check(model: PrivacyModel) -> bool:
    """Tell whether this version can verify a model."""
    return model.model in CHECKED


def parameters(model: PrivacyModel, attributes: tuple[str, ...]) -> dict[str, Any]:
    """Return a model as the receipt names it."""
    found: dict[str, Any] = {"model": model.model, "attributes": list(attributes)}
    for key, value in model.model_dump(exclude={"model", "attributes"}, exclude_none=True).items():
        found[key] = (int(value) if value == int(value) else float(value)) if isinstance(value, Decimal) else value
    if isinstance(found.get("sensitive"), tuple):
        found["sensitive"] = list(found["sensitive"])
    return found


def check_model(
    model: PrivacyModel, policy: Policy, rows: Rows, taking_part: pl.Series
) -> tuple[dict[str, Any], list[str]]:
    """Return the receipt's entry for a model on the rows that take part, and what was found against it.

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
        holds = {"holds": not figures.findings, "worst": figures.worst, "groups": figures.groups}
        return parameters(model, attributes) | holds | figures.extra, figures.findings
    noun = "individual" if rows.persons else "record"
    everyone = bool(taking_part.all())
    texts = rows.texts.select(attributes)
    if isinstance(model, KAnonymity):
        sizes = (texts if everyone else texts.filter(taking_part)).group_by(attributes).len()["len"].to_numpy()
        bad = sizes < model.k
        worst: Any = int(sizes.min()) if len(sizes) else None
        extra: dict[str, Any] = {}
    else:
        sizes, histogram = _histogram(texts, attributes, rows.items[str(model.sensitive)], taking_part)
        bad, worst, extra = _judge(model, policy, sizes, histogram)
    report = parameters(model, attributes) | {"holds": not bad.any(), "worst": worst, "groups": len(sizes)} | extra
    if not bad.any():
        return report, []
    return report, [
        f"{_name(report)} over {', '.join(attributes)} does not hold in {count(int(bad.sum()), 'group')} with "
        f"{count(int(sizes[bad].sum()), noun)}; the worst is {_round(worst)}."
    ]


def _name(report: dict[str, Any]) -> str:
    settings = ", ".join(
        f"{key} {value}"
        for key, value in report.items()
        if key not in {"model", "attributes", "holds", "worst", "groups", "smallest"}
    )
    return f"{report['model']} ({settings})"


def _round(worst: Any) -> str:
    return "unbounded" if worst is None else f"{worst:.6g}"


def _histogram(
    texts: pl.DataFrame, attributes: tuple[str, ...], items: pl.DataFrame, taking_part: pl.Series
) -> tuple[NDArray[np.int64], pl.DataFrame]:
    """Return the groups' sizes, and how many rows of each group have each item."""
    rows = texts.with_columns(pl.Series(ROW, np.arange(texts.height, dtype=np.int64))).filter(taking_part)
    groups = rows.group_by(attributes).len(COUNT).with_row_index(GROUP)
    numbered = rows.join(groups.select(*attributes, GROUP), on=list(attributes), how="left", nulls_equal=True)
    counted = numbered.select(ROW, GROUP).join(items, on=ROW, how="inner").group_by(GROUP, ITEM).len(COUNT)
    return groups[COUNT].cast(pl.Int64).to_numpy(), counted.with_columns(pl.col(COUNT).cast(pl.Int64))


def _per_group(frame: pl.DataFrame, expression: pl.Expr, number: int, empty: float) -> NDArray[Any]:
    """Return an aggregate of every group's entries, ``empty`` for groups that have none."""
    found = np.full(number, empty, dtype=np.float64)
    if frame.height:
        totals = frame.group_by(GROUP).agg(expression.alias(COUNT))
        found[totals[GROUP].to_numpy()] = totals[COUNT].cast(pl.Float64).to_numpy()
    return found


def _judge(
    model: PrivacyModel, policy: Policy, sizes: NDArray[np.int64], histogram: pl.DataFrame
) -> tuple[NDArray[np.bool_], Any, dict[str, Any]]:
    """Return which groups break a model, the worst group's figure, and further figures."""
    number = len(sizes)
    known = histogram.filter(pl.col(ITEM).is_not_null())
    some = number > 0
    if isinstance(model, PSensitive) or (isinstance(model, LDiversity) and model.variant == "distinct"):
        values = _per_group(known, pl.len(), number, 0)
        least = model.p if isinstance(model, PSensitive) else int(model.l)
        return values < least, int(values.min()) if some else None, {}
    if isinstance(model, LDiversity) and model.variant == "entropy":
        shares = known.with_columns((pl.col(COUNT) / pl.col(COUNT).sum().over(GROUP)).alias("share"))
        entropy = _per_group(shares, -(pl.col("share") * pl.col("share").log()).sum(), number, 0.0)
        return entropy < math.log(model.l) - TOLERANCE, float(np.exp(entropy.min())) if some else None, {}
    if isinstance(model, LDiversity) and model.variant == "recursive":
        return _recursive(known, int(model.l), Fraction(str(model.c)), number)
    if isinstance(model, LDiversity):
        limit = Fraction(str(model.l))
        most = _per_group(known, pl.col(COUNT).max(), number, 0)
        told = most > 0  # a group of nothing but missing values cannot be too uniform
        least_l = float((sizes[told] / most[told]).min()) if told.any() else None
        return most * limit.numerator > sizes * limit.denominator, least_l, {}
    if isinstance(model, AlphaK):
        alpha = Fraction(str(model.alpha))
        most = _per_group(histogram, pl.col(COUNT).max(), number, 0)
        bad = (most * alpha.denominator > sizes * alpha.numerator) | (sizes < model.k)
        share = float((most / sizes).max()) if some else None
        return bad, share, {"smallest": int(sizes.min()) if some else None}
    assert isinstance(model, TCloseness)
    distance = _distances(model, policy, histogram, number)
    return distance > float(model.t) + TOLERANCE, float(distance.max()) if some else None, {}


def _recursive(
    known: pl.DataFrame,
    least: int,
    c: Fraction,
    number: int,
) -> tuple[NDArray[np.bool_], Any, dict[str, Any]]:
    ranked = known.sort(COUNT, descending=True).with_columns(pl.int_range(pl.len()).over(GROUP).alias("rank"))
    first = _per_group(ranked.filter(pl.col("rank") == 0), pl.col(COUNT).sum(), number, 0)
    tail = _per_group(ranked.filter(pl.col("rank") >= least - 1), pl.col(COUNT).sum(), number, 0)
    bad = first * c.denominator >= tail * c.numerator
    if not number:
        return bad, None, {}
    return bad, None if (tail == 0).any() else float((first / tail).max()), {}


# ---------------------------------------------------------------------------------------------- distances


def _distances(model: TCloseness, policy: Policy, histogram: pl.DataFrame, number: int) -> NDArray[np.float64]:
    """Return every group's distance to the distribution of all rows that take part; missing is a value here."""
    entries = histogram.with_columns((pl.col(COUNT) / pl.col(COUNT).sum().over(GROUP)).alias("p"))
    whole = histogram.group_by(ITEM).agg(pl.col(COUNT).sum())
    whole = whole.select(ITEM, (pl.col(COUNT) / pl.col(COUNT).sum()).alias("q"))
    if model.distance == "hierarchical":
        return _over_tree(model, policy, entries, whole, number)
    joined = entries.join(whole, on=ITEM, how="left", nulls_equal=True)
    if model.distance == "equal":
        gain = _per_group(joined, ((pl.col("p") - pl.col("q")).abs() - pl.col("q")).sum(), number, 0.0)
        return 0.5 * (1.0 + gain) if number else gain
    order = {item: place for place, item in enumerate(_ordered_items(model, policy, whole[ITEM].to_list()))}
    places = np.array([order[item] for item in whole[ITEM].to_list()], dtype=np.int64)
    reference = np.zeros(len(order))
    reference[places] = whole["q"].to_numpy()
    table = np.zeros((number, len(order)))
    at = [order[item] for item in entries[ITEM].to_list()]
    table[entries[GROUP].to_numpy(), at] = entries["p"].to_numpy()
    return np.asarray(np.abs(np.cumsum(table - reference, axis=1)).sum(axis=1) / max(len(order) - 1, 1))


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
    leaf = {text: place for place, text in enumerate(_depth_first(lines.lines))}
    return [*sorted(present, key=lambda item: (leaf.get(item, len(leaf)), item)), *absent]


def _depth_first(lines: tuple[Line, ...]) -> list[str]:
    """Return the leaves of a tree in depth-first order, children in the order the lines first name them."""
    children: dict[str, dict[str, None]] = {}
    for line in lines:
        for child, parent in pairwise(line):
            children.setdefault(parent, {})[child] = None
    found, stack = [], [lines[0][-1]]
    while stack:
        label = stack.pop()
        if label in children:
            stack.extend(reversed(children[label]))
        else:
            found.append(label)
    return found


def _over_tree(
    model: TCloseness, policy: Policy, entries: pl.DataFrame, whole: pl.DataFrame, number: int
) -> NDArray[np.float64]:
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
        for item, line in line_of.items()
        if item in set(items)
        for at in range(len(line) - 1)
    ]
    ways = pl.DataFrame(
        {ITEM: [s[0] for s in steps], "node": [s[1] for s in steps], "weight": [s[2] for s in steps]},
        schema={ITEM: pl.String, "node": pl.String, "weight": pl.Float64},
    )
    below = (
        whole.join(ways, on=ITEM, nulls_equal=True).group_by("node").agg(pl.col("q").sum(), pl.col("weight").first())
    )
    mass = entries.join(ways, on=ITEM, nulls_equal=True).group_by(GROUP, "node").agg(pl.col("p").sum())
    joined = mass.join(below, on="node", how="left")
    gain = pl.col("weight") * ((pl.col("p") - pl.col("q")).abs() - pl.col("q"))
    rest = float((below["weight"] * below["q"]).sum())
    return _per_group(joined, gain.sum(), number, 0.0) + (rest if number else 0.0)


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
        height[STAR] = max(height.get(STAR, 0), 1 + scale.height(spec.from_, len(spec.widths) - 1))
    return height


def _lines(model: TCloseness, policy: Policy, items: list[str | None]) -> dict[str | None, Line]:
    """Return the way up of every leaf of a sensitive attribute's tree, missing directly under the root."""
    ways = policy.ways_up(model.sensitive, [item for item in items if item is not None])
    lines: dict[str | None, Line] = {leaf: ways.of(leaf) for leaf in ways.leaves}
    if None in items:
        lines[None] = ("\0missing", ways.root)
    return lines


# ---------------------------------------------------------------------------------------------- dependencies


def check_dependency(rule: Dependency, texts: pl.DataFrame, quasi_identifiers: list[str]) -> dict[str, Any]:
    """Test a rule on texts: whether it holds, and how many left sides break it.

    A multivalued rule X ->> Y is tested over the quasi-identifiers and the attributes it names: within every X
    each Y must occur with each combination of the rest.
    """
    left, right = list(rule.left), list(rule.right)
    if not rule.multivalued:
        images = texts.select([*left, *(n for n in right if n not in left)]).unique().group_by(left).len()["len"]
        broken = int((images > 1).sum())
    else:
        right = [name for name in right if name not in left]
        rest = [name for name in quasi_identifiers if name not in left and name not in right]
        if not rest or not right:
            broken = 0
        else:
            counted = texts.group_by(left).agg(
                pl.struct(right).n_unique().alias("y"),
                pl.struct(rest).n_unique().alias("z"),
                pl.struct(right + rest).n_unique().alias("yz"),
            )
            broken = int((counted["y"] * counted["z"] != counted["yz"]).sum())
    return {"rule": rule.rule, "holds": broken == 0, "broken": broken}
