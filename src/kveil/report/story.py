"""What a report tells, as plain data: every figure of it is reckoned here, the page only shows it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np
import polars as pl

from kveil.attacker.attacks import Attacks
from kveil.choose import TriedEntry
from kveil.files import Source
from kveil.guarantee import Guarantee
from kveil.measures import Shares
from kveil.policy.attributes import STAR, Ranges
from kveil.policy.builders import label_writer
from kveil.policy.components import largest_k
from kveil.policy.lines import collapse
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number, parse_span, show_span
from kveil.report.account import Account, Counts
from kveil.report.exposure import WorstAttack, why_guesses_succeed, worst_attack
from kveil.report.receipt import Receipt
from kveil.report.story_words import boundary_in_words, hierarchy_in_words, shape_in_words, together_in_words
from kveil.verifier.rows import original_rows, release_rows
from kveil.words import WORST, count, model_in_words, plural_of, promise_in_words, row_noun

Bars = list[tuple[str, int]]  # labels, each with how many records or people show it

NOBODY: Counts = {"input": 0, "released": 0, "suppressed": 0}
MOST_BARS = 14
MOST_NODES = 45


@dataclass(frozen=True)
class Promise:
    """A model of the policy: what it asks for in words, and how the release keeps it."""

    model: str
    named: str
    told: str
    attributes: list[str]
    holds: bool
    worst: float | None
    _: KW_ONLY
    worst_is: str
    groups: int


@dataclass(frozen=True)
class ColumnRole:
    """What a column is, and how its values may become coarser."""

    name: str
    role: str
    hierarchy: str
    boundary: str
    weight: str


@dataclass(frozen=True)
class TreeNode:
    """A node of a hierarchy: how many cells show it, and how many show it or a node below it."""

    label: str
    depth: int
    cells: int | None
    below: int


@dataclass(frozen=True)
class ColumnBefore:
    """What only the owner is told of a quasi-identifier: its loss, and what it was in the original."""

    loss: Shares
    bars: Bars
    level: str  # the level of the hierarchy that the bars are drawn at, if not that of the values
    values: int
    nodes: list[TreeNode]


@dataclass(frozen=True)
class ColumnShown:
    """A quasi-identifier in the release; ``before`` is None where the public is told."""

    name: str
    after: Bars
    labels: int
    before: ColumnBefore | None


@dataclass(frozen=True)
class GroupPicture:
    """How many records, or people, are in groups of which size."""

    bars: Bars
    groups: int = 0
    smallest: int = 0
    largest: int = 0
    median: float = 0.0


@dataclass(kw_only=True, frozen=True)
class OwnersPart:
    """What a report tells nobody but the owner of the data; ``table`` is what the original is called."""

    table: str
    reasons: Mapping[str, int]
    attacks: Attacks
    worst_attack: WorstAttack | None
    why: list[str]
    tried: list[TriedEntry]
    together: str


@dataclass(kw_only=True, frozen=True)
class Story:
    """All that a report tells; ``owner`` is None where everybody may read it."""

    told: Account | Receipt
    noun: str
    counts: Counts
    records: Counts | None
    limit: float
    show: str
    promises: list[Promise]
    roles: list[ColumnRole]
    columns: list[ColumnShown]
    shape: str
    groups: GroupPicture
    k: int
    owner: OwnersPart | None

    @property
    def public(self) -> bool:
        """Whether everybody may read it."""
        return self.owner is None

    @property
    def share(self) -> float:
        """The share of records, or people, that are left out."""
        return self.counts["suppressed"] / self.counts["input"] if self.counts["input"] else 0.0


# ------------------------------------------------------------------------------------------------ the two stories


def tell_owner(
    policy: Policy,
    account: Account,
    release: Source,
    original: Source,
    reasons: Mapping[str, int],
    attacks: Attacks,
) -> Story:
    """Return the story of a release for the owner of the data, with what the original was like."""
    part = OwnersPart(
        table=original.name,
        reasons=dict(reasons),
        attacks=attacks,
        worst_attack=worst_attack(attacks),
        why=why_guesses_succeed(policy, attacks),
        tried=account["tried"],
        together=together_in_words(account),
    )
    were = original_rows(original, policy).texts  # people beside people, records beside records
    shown = release_rows(release, policy).texts
    columns = []
    for name in policy.quasi_identifiers:
        before, after = _counts(were[name]), _counts(shown[name])
        coarse, level = _coarse(policy, name, before)
        nodes = _nodes(policy, name, after, list(before))
        own = ColumnBefore(account["loss_by_attribute"][name], _top(coarse), level, len(before), nodes)
        columns.append(ColumnShown(name, _top(after), len(after), own))
    return _story(policy, account, shown, columns, part)


def tell_public(policy: Policy, receipt: Receipt, release: Source) -> Story:
    """Return the story of a release for everybody: only what receipt, policy and release tell."""
    shown = release_rows(release, policy).texts
    columns = []
    for name in policy.quasi_identifiers:
        after = _counts(shown[name])
        columns.append(ColumnShown(name, _top(after), len(after), None))
    return _story(policy, receipt, shown, columns, None)


def _story(
    policy: Policy,
    told: Account | Receipt,
    shown: pl.DataFrame,
    columns: list[ColumnShown],
    owner: OwnersPart | None,
) -> Story:
    noun = plural_of(row_noun(people=told["individuals"] is not None))
    return Story(
        told=told,
        noun=noun,
        counts=told["individuals"] or told["records"] or NOBODY,
        records=told["records"],
        limit=float(policy.suppression.limit),
        show=policy.suppression.show,
        promises=[_promise(guarantee, noun) for guarantee in told["guarantees"]],
        roles=[_role(policy, name) for name in policy.attributes],
        columns=columns,
        shape=shape_in_words(policy),
        groups=_group_sizes(shown, policy.quasi_identifiers),
        k=largest_k(policy),
        owner=owner,
    )


def _promise(guarantee: Guarantee, noun: str) -> Promise:
    return Promise(
        guarantee["model"],
        model_in_words(guarantee),
        promise_in_words(guarantee, noun),
        guarantee["attributes"],
        guarantee["holds"],
        guarantee["worst"],
        worst_is=WORST[guarantee["model"]],
        groups=guarantee["groups"],
    )


def _role(policy: Policy, name: str) -> ColumnRole:
    attribute = policy.attributes[name]
    weight = f"{float(attribute.weight):g}"
    if attribute.role != "quasi-identifier":
        return ColumnRole(name, attribute.role, "", "", weight)
    return ColumnRole(name, attribute.role, hierarchy_in_words(policy, name), boundary_in_words(policy, name), weight)


# ------------------------------------------------------------------------------------------------ figures


def _natural(label: str) -> tuple[int, float, float, str]:
    """Return a key that puts numbers and spans of them by their bounds, open ends included, before other texts."""
    bounds = _bounds(label)
    return (1, 0.0, 0.0, label) if bounds is None else (0, *bounds, label)


def _bounds(label: str) -> tuple[float, float] | None:
    """Return between which numbers the values of a label lie; None where it is no span of numbers."""
    below, above = parse_number(label.removeprefix("<")), parse_number(label.removeprefix(">="))
    if label.startswith("<") and below is not None:
        return -math.inf, float(below)
    if label.startswith(">=") and above is not None:
        return float(above), math.inf
    span = parse_span(label[:-1] + "]" if label.startswith("[") and label.endswith(")") else label)
    return None if span is None else (float(span[0]), float(span[1]))


def _top(counts: Counter[str]) -> Bars:
    """Return the most frequent labels in their natural order, the others as one, `*` last."""
    frequent = [label for label, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) if label != STAR]
    most = MOST_BARS + (len(frequent) == MOST_BARS + 1)  # one other label takes no more room than "1 other"
    shown = sorted(frequent[:most], key=_natural)
    rows = [(label if label else "(empty)", counts[label]) for label in shown]
    rest = frequent[most:]
    if rest:
        rows.append((count(len(rest), "other"), sum(counts[label] for label in rest)))
    if counts[STAR]:
        rows.append(("* (anything)", counts[STAR]))
    return rows


def _counts(column: pl.Series) -> Counter[str]:
    return Counter(dict(column.alias("text").value_counts(name="n").iter_rows()))


def _coarse(policy: Policy, name: str, counts: Counter[str]) -> tuple[Counter[str], str]:
    """Return a column's counts at the first level that has few enough labels to draw, and what that level is."""
    if len(counts) <= MOST_BARS:
        return counts, ""
    spec = policy.attributes[name].hierarchy
    if isinstance(spec, Ranges):
        return _binned(counts), "in equal parts"
    up = policy.ways_up(name, counts)
    ways = {value: up.of(value) for value in counts}
    deepest = max(map(len, ways.values()))
    for level in range(1, deepest - 1):
        at_level: Counter[str] = Counter()
        for value, way in ways.items():
            at = max(0, min(level - (deepest - len(way)), len(way) - 2)) if len(way) > 1 else 0
            at_level[way[at]] += counts[value]
        if len(at_level) <= 2 * MOST_BARS:
            return at_level, f"{count(level, 'step')} up its hierarchy"
    return counts, ""


def _binned(counts: Counter[str]) -> Counter[str]:
    numbers = {text: parse_number(text) for text in counts}
    known = [float(number) for number in numbers.values() if number is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    width = (high - low) / 10 or 1.0
    bins: Counter[str] = Counter()
    for text, number in numbers.items():
        if number is None:
            bins[text] += counts[text]
        else:
            place = min(int((float(number) - low) / width), 9)
            ends = (Decimal(f"{low + end * width:.6g}") for end in (place, place + 1))
            bins[show_span(*ends)] += counts[text]
    return bins


def _nodes(policy: Policy, name: str, after: Counter[str], values: list[str]) -> list[TreeNode]:
    """Return the nodes of a hierarchy that cells stand at, with those above them, in the tree's order."""
    spec = policy.attributes[name].hierarchy
    if isinstance(spec, Ranges) or spec is None:
        return []
    ways, writer = policy.ways_up(name, values), label_writer(spec, after)
    children: dict[str, dict[str, None]] = {}
    for leaf in ways.leaves:
        for child, above in pairwise(collapse([leaf, *map(writer, ways.of(leaf)[1:])])):
            children.setdefault(above, {})[child] = None
    root = ways.root
    total: dict[str, int] = {}

    order: list[tuple[str, int]] = []  # labels with their depths, each before what is below it
    waiting = [(root, 0)]
    while waiting:
        label, depth = waiting.pop()
        order.append((label, depth))
        waiting += [(child, depth + 1) for child in sorted(children.get(label, ()), key=_natural, reverse=True)]
    for label, _ in reversed(order):
        total[label] = after.get(label, 0) + sum(total[child] for child in children.get(label, ()))
    rows = [
        TreeNode(label or "(empty)", depth, after.get(label, 0), total[label])
        for label, depth in order
        if total[label] or label == root
    ]
    if len(rows) > MOST_NODES:  # keep the nodes nearest to the root, and of those the fullest
        nearest = sorted(range(len(rows)), key=lambda i: (rows[i].depth, -rows[i].below, i))
        kept = set(nearest[:MOST_NODES])
        rows = [row for i, row in enumerate(rows) if i in kept] + [
            TreeNode(count(len(rows) - MOST_NODES, "more node"), 1, None, 0)
        ]
    return rows


def _group_sizes(shown: pl.DataFrame, names: list[str]) -> GroupPicture:
    """Return the records in groups of which size: 1, 2, 3 to 4, 5 to 9, 10 to 19, 20 to 49 and so on."""
    visible = shown.filter(~pl.all_horizontal(pl.col(names) == STAR)) if shown.height else shown
    if not visible.height:
        return GroupPicture([])
    sizes = visible.group_by(names).len()["len"].to_numpy()
    edges = [1, 2, 3, 5]
    while edges[-1] <= sizes.max():
        edges += [edges[-1] * 2, edges[-1] * 4, edges[-1] * 10]
    rows = []
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        inside = sizes[(sizes >= low) & (sizes < high if high is not None else True)]
        label = f"{low}+" if high is None else str(low) if high - low == 1 else f"{low}–{high - 1}"
        rows.append((label, int(inside.sum())))
    while rows and rows[-1][1] == 0:
        rows.pop()
    while rows and rows[0][1] == 0:
        rows.pop(0)
    return GroupPicture(rows, len(sizes), int(sizes.min()), int(sizes.max()), float(np.median(sizes)))
