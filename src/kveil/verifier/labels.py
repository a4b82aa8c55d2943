"""Labels that name a value which the release itself does not show.

A label of a hierarchy made from the data may be called by values of it, such as `Ny-Alesund … town002`. Everybody who
reads it learns that somebody has such a value, though that record is left out or generalized.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import polars as pl

from kveil.policy.attributes import Ranges
from kveil.policy.components import largest_k
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number, parse_span
from kveil.verifier.alignment import PEOPLE, VALUE, BesideOriginal
from kveil.words import count

LONGEST = 300  # characters of a label that are looked at
RUN = "…"
_BOUND = re.compile(r"(?<!\w)(?=\w)|(?<=\w)(?!\w)|^|$")


def telling_labels(aligned: BesideOriginal, policy: Policy) -> list[str]:
    """Return a finding for every attribute with a shown label that names a rare value which is released nowhere.

    Rare is what fewer people have than the policy's largest k, two at least: a value that k people have singles out
    nobody. Looked at are the inner nodes of files and trees; builders call nodes by the policy's numbers or by the
    value's own beginning. A number counts in runs of values alone (`3 … 7`): elsewhere it is a bound, which somebody
    chose. So are values by which a tree names its nodes though nobody has them, like the codes `V01` and `V06` of the
    node `V01,V06` in a tree of all codes there are: such a tree was not made from the table, and its names tell
    nothing about it.
    """
    rows = aligned.rows
    least = max(largest_k(policy), 2)
    findings = []
    for name in (*policy.quasi_identifiers, *policy.generalized):
        fixed = policy.fixed_lines(name)
        if fixed is None:
            continue
        leaves = {line[0] for line in fixed.lines}
        inner = {label for line in fixed.lines for label in line[1:]} - leaves - {fixed.root}
        labels = rows.labels(name)
        named = {words for label in labels & inner for words in _words(label)}
        people = aligned.people_with(policy, name, named)
        rare = set(people.filter(pl.col(PEOPLE) < least)[VALUE].to_list())
        hidden = rare - labels - set(policy.data.missing)
        telling = [label for label in labels & inner if _names_one_of(label, hidden)]
        if telling and not _names_nobody(inner, leaves.difference(aligned.different(policy, name))):
            what = "a label that names" if len(telling) == 1 else f"{count(len(telling), 'label')} that name"
            findings.append(
                f"{name} shows {what} a value which fewer than {least} have and which is released nowhere; rename such "
                "labels in its hierarchy, by number for example."
            )
    return findings


def bounds_of_somebody(aligned: BesideOriginal, policy: Policy) -> list[str]:
    """Return a finding for every attribute whose bounds are to be nobody's value, and some are a released record's.

    The ends of the domain are the policy's own, whoever has them.
    """
    findings = []
    for name in policy.quasi_identifiers:
        spec = policy.attributes[name].hierarchy
        if not isinstance(spec, Ranges) or spec.bounds != "midpoints":
            continue
        was = aligned.released_values(policy, name)
        values = {parse_number(text) for text in was} - {None, *spec.within}
        spans = [span for text in aligned.rows.labels(name) if (span := parse_span(text)) is not None]
        exact = [span for span in spans if span[0] != span[1] and not values.isdisjoint(span)]
        if exact:
            findings.append(
                f"{name} shows {count(len(exact), 'span')} with a bound that is somebody's value, though the policy "
                "asks for midpoints."
            )
    return findings


def _names_nobody(labels: Iterable[str], nobodys: set[str]) -> bool:
    """Tell whether a tree names nodes by values that nobody has."""
    return any(_names_one_of(label, nobodys) for label in labels)


def _words(label: str) -> Iterator[str]:
    """Return every run of whole words of a label."""
    text = label[:LONGEST]
    bounds = sorted({match.start() for match in _BOUND.finditer(text)})
    return (text[start:end] for i, start in enumerate(bounds) for end in bounds[i + 1 :])


def _names_one_of(label: str, values: set[str]) -> bool:
    """Tell whether some whole words of a label are one of the values."""
    return bool(values) and any(
        words in values and words != label and (RUN in label or parse_number(words) is None) for words in _words(label)
    )
