"""Put the parts of a verification together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.errors import DataError, Refused, count, listing
from kveil.files import Source
from kveil.policy.constraints import Component, components, largest_k
from kveil.policy.model import STAR, Policy
from kveil.verify.guarantees import can_check, check_dependency, check_model
from kveil.verify.texts import released_texts
from kveil.verify.truth import Comparison, compare, impossible_stars, unknown_labels
from kveil.verify.verdict import Verdict

Rows = NDArray[np.int64]


def _columns(release: Source, policy: Policy) -> list[str]:
    """Return what is wrong with a release's columns; raise where checking is impossible."""
    found = release.frame.columns
    absent = [name for name in policy.released if name not in found]
    if absent:
        raise DataError(f"{release.name} lacks {listing(absent)}, which a release of this policy has.")
    wrong = []
    for name in found:
        role = policy.attributes[name].role if name in policy.attributes else None
        if role in {"identifier", "individual"}:
            wrong.append(f"the column {name} has role {role} and must not be released.")
        elif role is None:
            wrong.append(f"the column {name} has no role in the policy and must not be released.")
    return wrong


def verify_release(
    release: Source, policy: Policy, original: Source | None = None, rows: Rows | None = None
) -> Verdict:
    """Check a release by its texts, against the original where ``rows`` says which input row each row is.

    Without an original: the guarantees and the dependencies. With it also that every cell is an ancestor of
    the original's, inside its boundary, that other cells are unchanged, and that the limit is kept.
    """
    if policy.individual_column is not None:
        raise Refused("this version of kveil cannot verify releases about individuals; use a later version.")
    cannot = sorted({model.model for model in policy.privacy if not can_check(model)})
    if cannot:
        raise Refused(f"this version of kveil cannot verify {listing(cannot)}; use a later version.")
    findings = _columns(release, policy)
    warnings: list[str] = []
    names = policy.quasi_identifiers
    texts = pl.DataFrame({name: released_texts(release, policy, name) for name in names})
    parts = components(policy)
    starred = pl.DataFrame(
        {
            str(c): texts.select(pl.all_horizontal(pl.col(part.attributes) == STAR).alias("star"))["star"]
            for c, part in enumerate(parts)
        }
    )
    all_star = starred.select(pl.all_horizontal(pl.all()).alias("star"))["star"]
    comparison: Comparison | None = None
    if original is not None:
        assert rows is not None
        comparison = compare(release, original, rows, policy, texts, parts, starred)
        findings += comparison.findings
    else:
        findings += unknown_labels(texts, policy, parts, starred)

    guarantees = []
    for c, part in enumerate(parts):
        taking_part = texts.filter(~starred[str(c)]) if starred[str(c)].any() else texts
        for i in part.models:
            guarantee, finding = check_model(policy.privacy[i], policy.attributes_of(policy.privacy[i]), taking_part)
            guarantees.append((i, guarantee))
            findings += finding
    guarantees.sort(key=lambda pair: pair[0])

    dependencies = []
    if policy.dependencies:
        shown = pl.DataFrame({n: released_texts(release, policy, n) for n in policy.released}).filter(~all_star)
        for rule in policy.dependencies:
            checked = check_dependency(rule, shown, names)
            dependencies.append(checked)
            if not checked["holds"] and not rule.multivalued:
                findings.append(
                    f"the dependency {rule.rule} does not hold: {count(checked['broken'], 'left side')} "
                    "shown with more than one right side."
                )
    suppression, finding = _suppression(release, policy, original, all_star, starred, parts, comparison)
    findings += finding
    warnings += _star_warnings(policy, suppression["starred"])
    if not release.rows:
        warnings.append("the release has no records.")
    return Verdict(
        guarantees=[guarantee for _, guarantee in guarantees],
        dependencies=dependencies,
        suppression=suppression,
        boundaries=None if comparison is None else {"violations": comparison.beyond},
        truth=None if comparison is None else {"violations": comparison.untrue},
        unchanged=None if comparison is None else {"violations": comparison.changed},
        findings=findings,
        warnings=warnings,
    )


def _suppression(
    release: Source,
    policy: Policy,
    original: Source | None,
    all_star: pl.Series,
    starred: pl.DataFrame,
    parts: tuple[Component, ...],
    comparison: Comparison | None,
) -> tuple[dict[str, object], list[str]]:
    """Count what counts against the limit, as far as texts tell."""
    forced = comparison.starred if comparison is not None else impossible_stars(policy, parts, starred)
    stars = int((all_star | forced).sum())
    records = release.rows if original is None else original.rows
    absent = max(records - release.rows, 0)
    suppressed = absent + stars
    over = Fraction(suppressed) > Fraction(policy.suppression.limit) * records
    report: dict[str, object] = {
        "records": suppressed,
        "starred": int(starred.select(pl.any_horizontal(pl.all()).alias("any"))["any"].sum()) if release.rows else 0,
        "of": records,
        "limit": float(policy.suppression.limit),
        "holds": not over,
    }
    if not over:
        return report, []
    return report, [
        f"{count(suppressed, 'record')} of {records:,} suppressed, more than the limit of "
        f"{float(policy.suppression.limit):g} allows."
    ]


def _star_warnings(policy: Policy, starred: object) -> list[str]:
    smallest = largest_k(policy)
    if isinstance(starred, int) and starred > 0:
        few = f", fewer than {smallest}" if starred < smallest else ""
        return [
            f"{count(starred, 'record')} shown as `*` in at least one component{few}: "
            "they are outside its guarantees, their other cells are released."
        ]
    return []
