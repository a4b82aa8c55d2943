"""Labels that name a value which the release itself does not show, and labels that are false when read.

A label of a hierarchy made from the data may be called by values of it, such as `Ny-Alesund … town002`. Everybody who
reads it learns that somebody has such a value, though that record is left out or generalized.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

import polars as pl

from kveil.policy.attributes import STAR
from kveil.policy.components import largest_k
from kveil.policy.lines import Lines
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number
from kveil.verifier.alignment import PEOPLE, VALUE, BesideOriginal
from kveil.verifier.label_ends import count_outside, is_closed_right, labels_of_letters, meaning, runs_over
from kveil.verifier.rows import Rows
from kveil.words import count, listing

LONGEST = 300  # characters of a label that are looked at
_RUN = re.compile(r"(.*?\S)\s*(?:…|\.\.\.)\s*(\S.*)", re.DOTALL)
_SEPARATORS = tuple(map(re.compile, (r"\s*[,;]\s*", r"\s*[/&+]\s*", r"\s+(?:to|and|or|-|–|—)\s+", r"-|–|—")))


def telling_labels(aligned: BesideOriginal, policy: Policy) -> list[str]:
    """Return a finding for every attribute with a shown label that names a rare value which is released nowhere.

    Rare is what fewer people have than the policy's largest k, two at least: a value that k people have singles out
    nobody. Looked at are the inner nodes of files and trees; builders call nodes by the policy's numbers or by the
    value's own beginning. A label names the values it runs between, or that it lists, see `_named_by`; a word that it
    shares with one, as `South America` with `South`, names none. Values by which a tree names its nodes though nobody
    has them, like the codes `V01` and `V06` of the node `V01,V06` in a tree of all codes there are, do not count: that
    tree was not made from the table, and its names tell nothing about it.
    """
    rows = aligned.rows
    least = max(largest_k(policy), 2)
    findings = []
    for name, fixed in _fixed_trees(policy):
        labels = rows.labels(name)
        leaves = {line[0] for line in fixed.lines}
        below = _leaves_below(fixed)
        named = {label: _named_by(label, own, leaves) for label, own in below.items() if label != fixed.root}
        shown = {label: named[label] for label in labels & named.keys() if named[label]}
        if not shown:
            continue
        people = aligned.people_with(policy, name, set().union(*shown.values()))
        rare = set(people.filter(pl.col(PEOPLE) < least)[VALUE].to_list())
        hidden = rare - labels - set(policy.data.missing)
        telling = [label for label, values in shown.items() if not hidden.isdisjoint(values)]
        if telling and set().union(*named.values()).isdisjoint(leaves.difference(aligned.different(policy, name))):
            what = "a label that names" if len(telling) == 1 else f"{count(len(telling), 'label')} that name"
            findings.append(
                f"{name} shows {what} a value which fewer than {least} have and which is released nowhere; rename such "
                "labels in its hierarchy, by number for example."
            )
    return findings


def misleading_labels(rows: Rows, policy: Policy) -> list[str]:
    """Return a finding for every attribute with a shown label that goes from one end to another, past a value below it.

    A reader knows the labels alone. It is the policy's own tree that tells: no original is needed.
    """
    findings = []
    for name, fixed in _fixed_trees(policy):
        wrong = sorted(untrue_ends(fixed, policy.data.missing, shown=rows.labels(name)))
        if wrong:
            what = "a label" if len(wrong) == 1 else count(len(wrong), "label")
            findings.append(
                f"{name} shows {what} with two ends that a value below lies outside of "
                f"({listing([repr(label[:40]) for label in wrong], 3)}); rename such labels in its hierarchy by what "
                "holds for all values below them."
            )
    return findings


def labels_that_run_over(rows: Rows, policy: Policy) -> list[str]:
    """Return a warning for every attribute that shows bands of whole numbers with the number behind their end in them.

    Trees are often made so, closed on the right and named as if open there: it is no finding, and a reader should know.
    """
    warnings = []
    for name, fixed in _fixed_trees(policy):
        over = sorted(bands_that_run_over(fixed, policy.data.missing, shown=rows.labels(name)))
        if over:
            warnings.append(
                f"{name} shows {count(len(over), 'band')} of numbers that begin and end one number later than said: "
                f"{meaning(over[0])}. Rename such labels in the hierarchy, or tell readers."
            )
    return warnings


def bands_that_run_over(fixed: Lines, missing: Sequence[str], *, shown: Set[str] | None = None) -> list[str]:
    """Return the labels of a hierarchy, of those that are shown, that are meant to hold the number behind their end."""
    below = _leaves_below(fixed)
    if not is_closed_right(below):
        return []
    return [
        label
        for label in (below if shown is None else below.keys() & shown)
        if runs_over(label, [leaf for leaf in below[label] if leaf not in missing])
    ]


def _fixed_trees(policy: Policy) -> Iterator[tuple[str, Lines]]:
    """Yield what is generalized by a tree that the policy itself holds, with the tree."""
    for name in (*policy.quasi_identifiers, *policy.generalized):
        fixed = policy.fixed_lines(name)
        if fixed is not None:
            yield name, fixed


def untrue_ends(fixed: Lines, missing: Sequence[str], *, shown: Set[str] | None = None) -> list[str]:
    """Return the labels of a hierarchy, of those that are shown, with two ends that a value below lies outside of."""
    below = _leaves_below(fixed)
    letters, right = labels_of_letters(below), is_closed_right(below)
    untrue = []
    for label in below if shown is None else below.keys() & shown:
        values = [leaf for leaf in below[label] if leaf not in missing]
        if values and count_outside(label, values, letters=letters, right=right):
            untrue.append(label)
    return untrue


def _leaves_below(fixed: Lines) -> dict[str, list[str]]:
    """Return the leaves below every inner node but the `*` that covers all, in the order of the hierarchy."""
    below: dict[str, list[str]] = {}
    for line in fixed.lines:
        for label in line[1:]:
            if label != STAR:
                below.setdefault(label, []).append(line[0])
    return below


def _named_by(label: str, below: Sequence[str], leaves: set[str]) -> set[str]:
    """Return the values that a label names: the two of a run `a … b`, or those of a list or a span of leaves below it.

    A list may be in any notation, `a, b`, `{a; b}`, `a/b`, `a to b`, `a-b`; only where all its parts are leaves below.
    """
    text = label[:LONGEST].strip()
    run = _RUN.fullmatch(text)
    if run is not None:
        return {run[1].strip(), run[2].strip()}
    for separator in _SEPARATORS:
        parts = {part.strip() for part in separator.split(text.strip("{}[]()"))}
        if len(parts) > 1 and parts <= leaves and not all(parse_number(part) is not None for part in parts):
            return parts if parts <= set(below) else set()
    return set()
