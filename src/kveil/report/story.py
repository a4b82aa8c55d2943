"""What a report tells, as plain data: every figure of it is reckoned here, the page only shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kveil.attacker.attacks import Attacks
from kveil.files import Source
from kveil.policy.attributes import STAR, Ranges
from kveil.policy.builders import label_writer
from kveil.policy.components import largest_k
from kveil.policy.lines import collapse
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number, parse_span
from kveil.report.account import Account, Counts
from kveil.report.exposure import why_guesses_succeed, worst_attack
from kveil.report.receipt import Receipt
from kveil.verifier.rows import original_rows, release_rows
from kveil.verifier.verdict import Guarantee
from kveil.words import WORST, count, model_in_words, promise_in_words

NOBODY: Counts = {"input": 0, "released": 0, "suppressed": 0}
MOST_BARS = 14
MOST_NODES = 45


def _promise(guarantee: Guarantee, noun: str) -> dict[str, Any]:
    return {
        **guarantee,
        "named": model_in_words(guarantee),
        "told": promise_in_words(guarantee, noun),
        "worst_is": WORST[guarantee["model"]],
    }


def _natural(label: str) -> tuple[int, float, str]:
    span = parse_span(label.strip("[]()").replace(",", "-")) if label[:1].isdigit() or label[:1] in "[(" else None
    return (1, 0.0, label) if span is None else (0, float(span[0]), label)


def _top(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return the most frequent labels in their natural order, the others as one, `*` last."""
    frequent = [label for label, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) if label != STAR]
    shown = sorted(frequent[:MOST_BARS], key=_natural)
    rows = [(label if label else "(empty)", counts[label]) for label in shown]
    rest = frequent[MOST_BARS:]
    if rest:
        rows.append((f"{len(rest):,} others", sum(counts[label] for label in rest)))
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
            bins[f"{low + place * width:g}-{low + (place + 1) * width:g}"] += counts[text]
    return bins


def _nodes(policy: Policy, name: str, after: Counter[str], values: list[str]) -> list[dict[str, Any]]:
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

    def weigh(label: str) -> int:
        total[label] = after.get(label, 0) + sum(weigh(child) for child in children.get(label, ()))
        return total[label]

    weigh(root)
    rows: list[dict[str, Any]] = []

    def walk(label: str, depth: int) -> None:
        rows.append({"label": label or "(empty)", "depth": depth, "cells": after.get(label, 0), "below": total[label]})
        below = [child for child in children.get(label, ()) if total[child]]
        for child in sorted(below, key=_natural):
            walk(child, depth + 1)

    walk(root, 0)
    if len(rows) > MOST_NODES:  # keep the nodes nearest to the root, and of those the fullest
        order = sorted(range(len(rows)), key=lambda i: (rows[i]["depth"], -rows[i]["below"], i))
        kept = set(order[:MOST_NODES])
        rows = [row for i, row in enumerate(rows) if i in kept] + [
            {"label": f"{len(rows) - MOST_NODES:,} more nodes", "depth": 1, "cells": None, "below": 0}
        ]
    return rows


def _group_sizes(shown: pl.DataFrame, names: list[str]) -> dict[str, Any]:
    """Return the records in groups of which size: 1, 2, 3 to 4, 5 to 9, 10 to 19, 20 to 49 and so on."""
    visible = shown.filter(~pl.all_horizontal(pl.col(names) == STAR)) if shown.height else shown
    if not visible.height:
        return {"rows": [], "groups": 0, "smallest": None, "largest": None, "median": None}
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
    return {
        "rows": rows,
        "groups": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "median": float(np.median(sizes)),
    }


def _hierarchy_words(policy: Policy, name: str) -> str:
    attribute = policy.attributes[name]
    spec = attribute.hierarchy
    if spec is None:
        return "value → *"
    if spec.form == "file":
        return f"file {Path(spec.path).name}"  # where it lies is nobody's business
    if spec.form == "intervals":
        ends = {None: "", "both": ", open at both ends"}.get(spec.open, f", open {spec.open}")
        return "intervals " + ", ".join(f"{width:g}" for width in map(float, spec.widths)) + ends
    if spec.form == "mask":
        return "first " + ", ".join(map(str, spec.keep)) + " characters"
    if spec.form == "dates":
        return ", ".join(spec.levels)
    return (
        "ranges" + (f" rounded to {float(spec.round):g}" if isinstance(spec, Ranges) and spec.round else "")
        if (spec.form == "ranges")
        else "tree in the policy"
    )


def _boundary_words(policy: Policy, name: str) -> str:
    boundary = policy.attributes[name].boundary
    if boundary is None:
        return "none"
    if boundary.form == "marked":
        return "up to " + ", ".join(boundary.nodes)
    if boundary.form == "level":
        return f"up to level {boundary.level}"
    return f"at most {float(boundary.max_width):g} wide"


def tell_owner(
    policy: Policy,
    account: Account,
    release: Source,
    original: Source,
    reasons: Mapping[str, int],
    attacks: Attacks,
) -> dict[str, Any]:
    """Return the story of a release for the owner of the data, with what the original was like."""
    shown = release_rows(release, policy).texts
    were = original_rows(original, policy).texts  # people beside people, records beside records
    story = _story(policy, account, shown)
    for entry in story["attributes"]:
        name = entry["name"]
        before = _counts(were[name])
        coarse, level = _coarse(policy, name, before)
        entry |= {
            "loss": account["loss_by_attribute"][name],
            "before": _top(coarse),
            "level": level,
            "values": len(before),
            "nodes": _nodes(policy, name, _counts(shown[name]), list(before)),
        }
    return story | {
        "public": False,
        "records": account["records"],
        "reasons": dict(reasons),
        "attacks": attacks,
        "worst_attack": worst_attack(attacks),
        "why": why_guesses_succeed(policy, attacks),
        "tried": account["tried"],
        "together": _together_words(account),
    }


def _together_words(account: Account) -> str:
    """Return what was held together with earlier releases, nothing where there were none."""
    together = account.get("previous")
    if together is None:
        return ""
    classes = max(guarantee["groups"] for guarantee in together["guarantees"])
    return (
        f"Together with {count(together['releases'] - 1, 'earlier release')} it shows "
        f"{count(together['people'], 'person', 'people')}: {together['newcomers']:,} for the first time, and "
        f"{together['leavers']:,} of the earlier ones are shown no more. Every promise also holds on the "
        f"{count(classes, 'group')} of people who look alike in all of these releases."
    )


def _shape_words(policy: Policy) -> str:
    """Return what the rows of a release about individuals are, and what they do not tell."""
    if policy.individual_column is None or not policy.with_role("sensitive"):
        return ""
    if policy.shows_records:
        return "A row is one record, its cells belong together; the order of a person's rows says nothing."
    sets = "the person's different values: how often somebody had one, and in which order, is not shown"
    if policy.release.shape == "long":
        return f"The rows of a person list {sets}."
    several = len(policy.with_role("sensitive")) > 1
    together = ", nor which values of different columns belong together" if several else ""
    return f"A row is one person. A sensitive cell is the set of {sets}{together}."


def tell_public(policy: Policy, receipt: Receipt, release: Source) -> dict[str, Any]:
    """Return the story of a release for everybody: only what receipt, policy and release tell."""
    story = _story(policy, receipt, release_rows(release, policy).texts)
    return story | {
        "public": True,
        "records": receipt["records"],
        "reasons": {},
        "attacks": None,
        "worst_attack": None,
        "why": [],
        "tried": [],
        "together": "",
    }


def _story(policy: Policy, told: Account | Receipt, shown: pl.DataFrame) -> dict[str, Any]:
    """Return what both stories have."""
    counts = told["individuals"] or told["records"] or NOBODY
    noun = "people" if told["individuals"] is not None else "records"
    attributes = []
    for name in policy.quasi_identifiers:
        after = _counts(shown[name])
        attributes.append({"name": name, "after": _top(after), "labels": len(after)})
    return {
        "told": told,
        "noun": noun,
        "counts": counts,
        "share": counts["suppressed"] / counts["input"] if counts["input"] else 0.0,
        "limit": float(policy.suppression.limit),
        "show": policy.suppression.show,
        "promises": [_promise(guarantee, noun) for guarantee in told["guarantees"]],
        "roles": [
            {
                "name": name,
                "role": a.role,
                "hierarchy": _hierarchy_words(policy, name) if a.role == "quasi-identifier" else "",
                "boundary": _boundary_words(policy, name) if a.role == "quasi-identifier" else "",
                "weight": f"{float(a.weight):g}",
            }
            for name, a in policy.attributes.items()
        ],
        "attributes": attributes,
        "shape": _shape_words(policy),
        "groups": _group_sizes(shown, policy.quasi_identifiers),
        "k": largest_k(policy),
    }
