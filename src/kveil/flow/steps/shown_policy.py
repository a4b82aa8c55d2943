"""A policy as far as a release shows it: its hierarchies as others get them, and the hash of what it means.

All of it is a function of the policy and of the release, never of the table: of a hierarchy only the labels that the
release shows, and the nodes above them that a check needs. A hierarchy as the owner has it lists every value of the
table, also of people who are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from kveil.free_form import JsonObject
from kveil.policy.attributes import STAR, Attribute
from kveil.policy.hierarchy import marked_nodes
from kveil.policy.lines import Line, Lines, in_preorder
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness, sensitive_of
from kveil.verifier.rows import Rows


@dataclass(frozen=True)
class ShownTree:
    """A fixed hierarchy as others get it, with its boundary as a policy writes one."""

    lines: tuple[Line, ...]
    boundary: list[str] | dict[str, str] | None


def policy_sha256(policy: Policy, rows: Rows) -> str:
    """Return the SHA-256 of what a policy means for a release: its promises, and its hierarchies as others get them.

    ``rows`` are those of the release. The owner's policy and the published one have the same. Nothing of a hierarchy
    that the release does not show goes into it: a hash of all leaves would let anyone test guesses about values of the
    table.
    """
    attributes: dict[str, JsonObject] = {}
    for name, labels in labels_needed(policy, rows).items():
        attribute = policy.attributes[name]
        entry: JsonObject = {"role": attribute.role}
        if labels is not None and policy.fixed_lines(name) is not None:
            tree = shown_tree(policy, name, labels)
            if tree is not None:
                entry = {**entry, "hierarchy": sorted(tree.lines), "boundary": tree.boundary}
        elif labels is not None:
            entry = {**entry, **attribute.model_dump(mode="json", include={"hierarchy", "boundary"})}
        attributes[name] = {key: value for key, value in entry.items() if value is not None}
    content = {
        "missing": missing_needed(policy),
        "attributes": attributes,
        "privacy": [model.model_dump(mode="json") for model in policy.privacy],
        "dependencies": [rule.rule for rule in policy.dependencies],
        "suppression": policy.suppression.model_dump(mode="json"),
        "release": policy.release.model_dump(mode="json"),
    }
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def labels_needed(policy: Policy, rows: Rows) -> dict[str, set[str] | None]:
    """Return for every attribute that others know of the labels it shows, None where its hierarchy is not needed.

    An identifier is not in the release, and its name is nobody's business.
    """
    needed: dict[str, set[str] | None] = {}
    for name, attribute in policy.attributes.items():
        if attribute.role == "identifier":
            continue
        needed[name] = None
        if name in rows.texts.columns or name in policy.generalized or name in _measured(policy):
            needed[name] = set(rows.labels(name)) - {policy.data.missing[0]}
    return needed


def missing_needed(policy: Policy) -> list[str]:
    """Return the texts for missing that others need: the one that is written, and `*`."""
    return [policy.data.missing[0], *([STAR] if STAR in policy.data.missing[1:] else [])]


def labels_published(policy: Policy, rows: Rows) -> dict[str, set[str] | None]:
    """Return the labels of every attribute whose hierarchy a published policy has, None of the others.

    Beside what `labels_needed` tells, these are hierarchies that give values an order and no more: of `ordered`
    distances, and of what one person has, which is written in the order of the hierarchy.
    """
    needed = labels_needed(policy, rows)
    for name in trees_needed(policy):
        if needed[name] is None:
            needed[name] = set(rows.labels(name)) - {policy.data.missing[0]}
    return needed


def trees_needed(policy: Policy) -> set[str]:
    """Return the sensitive attributes whose hierarchy others need, also where the release shows `*` alone."""
    people = policy.with_role("sensitive") if policy.individual_column is not None else []
    ordered = {
        model.sensitive for model in policy.privacy if isinstance(model, TCloseness) and model.distance == "ordered"
    }
    named = {*policy.generalized, *_measured(policy), *people, *ordered}
    return {name for name in named if policy.attributes[name].hierarchy is not None}


def _measured(policy: Policy) -> set[str]:
    """Return the sensitive attributes whose trees measure distances."""
    return {
        name
        for model in policy.privacy
        if isinstance(model, TCloseness) and model.distance == "hierarchical"
        for name in sensitive_of(model)
    }


def shown_tree(policy: Policy, name: str, labels: set[str]) -> ShownTree | None:
    """Return a fixed hierarchy with only what is shown, None where nothing is but `*`."""
    fixed, attribute = policy.fixed_lines(name), policy.attributes[name]
    assert fixed is not None
    marks = _marks(attribute, fixed, labels)
    if name in _measured(policy):
        lines = _with_heights(fixed, _shown_lines(fixed, labels, {label for line in fixed.lines for label in line}))
    else:
        lines = _shown_lines(fixed, labels, marks)
    if lines == ((STAR,),):
        return None
    if attribute.boundary is not None and attribute.boundary.form == "level" and attribute.boundary.level == 0:
        return ShownTree(lines, {"level": "0"})
    marked = [label for label in dict.fromkeys(label for line in lines for label in line) if label in marks]
    return ShownTree(lines, marked or None)


def in_whole_order(policy: Policy, name: str, lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return lines of a shown tree in the order of the whole one, in which a node's leaves may lie apart."""
    fixed = policy.fixed_lines(name)
    place = {label: at for at, label in enumerate(in_preorder(fixed.lines if fixed is not None else ()))}
    return tuple(sorted(lines, key=lambda line: place.get(line[0], len(place))))


def _marks(attribute: Attribute, fixed: Lines, labels: set[str]) -> set[str]:
    """Return the marked nodes at or above shown labels, by which others see that no label is beyond its boundary.

    A mark below a label that is rightly shown is left out: the label covers values that the mark does not limit.
    """
    boundary = attribute.boundary
    if boundary is None or (boundary.form == "level" and boundary.level == 0):
        return set()
    marked = set(marked_nodes(attribute))
    if boundary.form == "level":
        marked = {line[min(boundary.level, len(line) - 1)] for line in fixed.lines}
    free = any(marked.isdisjoint(line[:-1]) for line in fixed.lines)  # some value may rightly become the root
    shown = labels - {fixed.root} if not free else labels
    marks: set[str] = set()
    below: set[str] = set()
    for line in fixed.lines:
        first = next((i for i, label in enumerate(line) if label in shown), None)
        if first is not None:
            marks |= marked.intersection(line[first:])
        for i, label in enumerate(line):
            if label in marked and shown.intersection(line[i + 1 :]):
                below.add(label)
    return marks - below


def _shown_lines(fixed: Lines, labels: set[str], above: set[str]) -> tuple[Line, ...]:
    """Return a tree with the shown labels, those of ``above`` over them, and the root; in the order of its leaves."""
    lines: dict[Line, None] = {}
    for line in fixed.lines:
        first = next((i for i, label in enumerate(line) if label in labels), None)
        if first is not None:
            kept = [label for label in line[first:-1] if label in labels or label in above]
            lines[(*kept, line[-1])] = None
    return tuple(_without_inner(lines)) or ((fixed.root,),)


def _heights(lines: Iterable[Line]) -> dict[str, int]:
    """Return for every node how far below it its deepest leaf lies."""
    heights: dict[str, int] = {}
    for line in lines:
        for height, label in enumerate(line):
            heights[label] = max(heights.get(label, 0), height)
    return heights


def _with_heights(fixed: Lines, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return a tree in which every inner node is as high as in the whole one: distances are shares of heights.

    Where what made a node so high is not shown, leaves without a meaning take its place.
    """
    whole = _heights(fixed.lines)
    made = list(lines)
    inner = dict.fromkeys(label for line in lines for label in line[1:])
    for label in sorted(inner, key=whole.__getitem__):  # those below first: what they need serves those above, too
        if _heights(made)[label] < whole[label]:
            deepest = next(line for line in fixed.lines if label in line and line.index(label) == whole[label])
            hidden = tuple(f"(not shown {len(made)}.{i})" for i in range(whole[label]))
            made.append((*hidden, *deepest[whole[label] :]))
    return tuple(made)


def _without_inner(lines: Iterable[Line]) -> Iterable[Line]:
    """Return lines without those of a label that another line has as an inner node: it is known by that one."""
    written = list(lines)
    inner = {label for line in written for label in line[1:]}
    return (line for line in written if line[0] not in inner)
