"""Sensitive values of suppressed rows: a row of stars must not publish the value of the one who did not fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kveil.files import Source
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.verifier.rows import Rows, stars_apart
from kveil.verifier.stars import Suppressed, any_of, attributes_protected_in, shows_star
from kveil.words import count


@dataclass(frozen=True)
class Hidden:
    """Per sensitive attribute the rows that must show `*` for it, and what is wrong with that."""

    rows: Mapping[str, pl.Series] = field(default_factory=dict)
    findings: tuple[str, ...] = ()


def check_hidden_values(policy: Policy, release: Source, rows: Rows, suppressed: Suppressed) -> Hidden:
    """Check what suppressed rows show of sensitive attributes.

    A row that is suppressed in a component is so in every one that protects one of the same attributes, and shows `*`
    for these, and for attributes that nothing protects. Nobody else shows `*` for a value. A starred person's items are
    stars by what a starred person is.
    """
    if rows.persons:
        return Hidden()
    protected = [attributes_protected_in(policy, part) for part in suppressed.parts]
    findings = _astray(protected, suppressed, rows)
    hidden: dict[str, pl.Series] = {}
    for name in policy.with_role("sensitive"):
        where = [gone for names, gone in zip(protected, suppressed.rows, strict=True) if name in names]
        hidden[name] = any_of(where) if where else suppressed.anywhere
        star = shows_star(release, rows, name)
        shown = rows.count(hidden[name] & ~star)
        if shown:
            whose = f"{count(shown, 'record')} suppressed and shown as `*`"
            findings.append(f"{name} shows the value of {whose}; show `*` there, too.")
        elsewhere = rows.count(star & ~hidden[name]) + stars_apart(release, name)
        if elsewhere and STAR not in policy.data.missing:
            findings.append(f"{name} shows `*` for {count(elsewhere, 'record')} not suppressed.")
    return Hidden(hidden, tuple(findings))


def _astray(protected: list[set[str]], suppressed: Suppressed, rows: Rows) -> list[str]:
    """Return a finding where rows are suppressed in one component and not in another that protects the same."""
    astray = pl.Series(np.zeros(rows.height, dtype=bool))
    for names, gone in zip(protected, suppressed.rows, strict=True):
        for others, also in zip(protected, suppressed.rows, strict=True):
            if names & others:
                astray |= gone & ~also
    if not astray.any():
        return []
    return [
        f"{count(rows.count(astray), 'record')} suppressed in one component, but not in another one that protects the "
        "same sensitive attribute."
    ]
