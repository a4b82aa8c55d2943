"""Put the parts of a verification together."""

from __future__ import annotations

from fractions import Fraction

import polars as pl

from kveil.arrays import Longs
from kveil.errors import DataError, Refused
from kveil.files import Source
from kveil.policy.attributes import STAR
from kveil.policy.components import largest_k
from kveil.policy.model import Policy
from kveil.policy.privacy import sensitive_of
from kveil.verifier.dependencies import check_dependency
from kveil.verifier.guarantees import can_check, check_model
from kveil.verifier.labels import bounds_of_somebody, telling_labels
from kveil.verifier.narrowing import narrowed_groups, narrowing_warnings
from kveil.verifier.rows import INDIVIDUAL, Rows, release_rows, rule_texts
from kveil.verifier.stars import Stars
from kveil.verifier.truth import Aligned, Differences, compare, impossible_stars, unknown_items, unknown_labels
from kveil.verifier.verdict import DependencyCheck, SuppressionCheck, Verdict
from kveil.words import count, listing


def can_verify(policy: Policy) -> None:
    """Raise Refused where a policy asks for what this version cannot verify."""
    cannot = sorted({model.model for model in policy.privacy if not can_check(model)})
    if cannot:
        raise Refused(f"this version of kveil cannot verify {listing(cannot)}; use a later version.")


def _columns(release: Source, policy: Policy) -> list[str]:
    """Return what is wrong with a release's columns; raise where checking is impossible."""
    found = release.frame.columns
    absent = [name for name in policy.released if name not in found]
    if absent:
        raise DataError(f"{release.name} lacks {listing(absent)}, which a release of this policy has.")
    numbered = policy.individual_column is not None and policy.release.shape == "long"
    wrong = []
    for name in found:
        role = policy.attributes[name].role if name in policy.attributes else None
        if numbered and name == INDIVIDUAL:
            continue
        if role in {"identifier", "individual"}:
            wrong.append(f"the column {name} has role {role} and must not be released.")
        elif role is None:
            wrong.append(f"the column {name} has no role in the policy and must not be released.")
    return wrong


def verify_release(
    release: Source, policy: Policy, original: Source | None = None, places: Longs | None = None
) -> Verdict:
    """Check a release by its texts, against the original where ``places`` says which row of it each row is.

    Without an original: the guarantees and the dependencies. With it also that every cell is an ancestor of
    the original's, inside its boundary, that other cells are unchanged, and that the limit is kept. Rows are
    records, or persons where the policy names individuals.
    """
    can_verify(policy)
    findings = _columns(release, policy)
    rows = release_rows(release, policy)
    findings += rows.findings
    stars = Stars.of(rows, policy)
    differences: Differences | None = None
    if original is not None:
        assert places is not None
        differences = compare(Aligned.of(release, rows, original, places, policy), policy, stars)
        findings += differences.findings + telling_labels(rows, original, policy)
        findings += bounds_of_somebody(rows, original, places, policy)
    else:
        findings += unknown_labels(rows.texts, policy, stars)
    findings += unknown_items(rows, policy)
    taking_part = {i: ~starred for part, starred in zip(stars.parts, stars.rows, strict=True) for i in part.models}
    guarantees = []
    for i, model in enumerate(policy.privacy):
        guarantee, broken = check_model(model, policy, rows, taking_part[i])
        guarantees.append(guarantee)
        findings += broken
    dependencies = _dependencies(release, policy)
    findings += [sentence for _, sentence in dependencies if sentence]
    suppression, beyond_limit = _suppression(rows, policy, stars, differences)
    findings += beyond_limit
    warnings = _star_warnings(policy, rows, suppression["starred"], _uniform(policy, rows, stars))
    private_warnings = []
    if original is not None and policy.dependencies:
        narrowed = narrowed_groups(policy, rows, release, original, taking_part)
        private_warnings = narrowing_warnings(narrowed, rows.noun)
    if not rows.height:
        warnings.append("the release has no records.")
    return Verdict(
        guarantees=guarantees,
        dependencies=[checked for checked, _ in dependencies],
        suppression=suppression,
        boundaries=None if differences is None else {"violations": differences.beyond},
        truth=None if differences is None else {"violations": differences.untrue},
        unchanged=None if differences is None else {"violations": differences.changed},
        findings=findings,
        warnings=warnings + private_warnings,
        private_warnings=private_warnings,
    )


def _dependencies(release: Source, policy: Policy) -> list[tuple[DependencyCheck, str]]:
    """Return every declared rule as it was tested, with a finding where a functional one is broken."""
    if not policy.dependencies:
        return []
    shown = rule_texts(release, policy, stars=True)
    shown = shown.filter(~pl.all_horizontal(pl.col(policy.quasi_identifiers) == STAR))
    answers = []
    for rule in policy.dependencies:
        checked = check_dependency(rule, shown, policy.quasi_identifiers)
        sentence = ""
        if not checked["holds"] and not rule.multivalued:
            sentence = (
                f"the dependency {rule.rule} does not hold: {count(checked['broken'], 'left side')} "
                "shown with more than one right side."
            )
        answers.append((checked, sentence))
    return answers


def _suppression(
    rows: Rows, policy: Policy, stars: Stars, differences: Differences | None
) -> tuple[SuppressionCheck, list[str]]:
    """Count what counts against the limit, as far as texts tell."""
    if rows.persons and rows.items:
        forced = stars.everywhere
    elif differences is not None:
        forced = differences.starred
    else:
        forced = impossible_stars(policy, stars)
    total = rows.height if differences is None else differences.original_rows
    suppressed = max(total - rows.height, 0) + int((stars.everywhere | forced).sum())
    over = Fraction(suppressed) > Fraction(policy.suppression.limit) * total
    report: SuppressionCheck = {
        "records": suppressed,
        "starred": int(stars.anywhere.sum()) if rows.height else 0,
        "of": total,
        "limit": float(policy.suppression.limit),
        "holds": not over,
    }
    if not over:
        return report, []
    return report, [
        f"{count(suppressed, rows.noun)} of {total:,} suppressed, more than the limit of "
        f"{float(policy.suppression.limit):g} allows."
    ]


def _uniform(policy: Policy, rows: Rows, stars: Stars) -> list[str]:
    """Return the sensitive attributes in which the rows of stars of some component, as a group, break its models."""
    names: list[str] = []
    for part, starred in zip(stars.parts, stars.rows, strict=True):
        for model in (policy.privacy[i] for i in part.models):
            if rows.persons or not starred.any() or not sensitive_of(model):
                continue  # a starred person's items are stars themselves
            if not check_model(model, policy, rows, starred)[0]["holds"]:
                names += sensitive_of(model)
    return list(dict.fromkeys(names))


def _star_warnings(policy: Policy, rows: Rows, starred: int, uniform: list[str]) -> list[str]:
    """Warn of rows shown as stars: they are outside every guarantee, and few of them are as good as named."""
    if not starred:
        return []
    k = largest_k(policy)
    few = f", fewer than {k}" if starred < k else ""
    if uniform:
        few += f", not diverse in {listing(uniform)}"
    if rows.persons:
        return [f"{count(starred, 'individual')} shown as `*`{few}: they are outside every guarantee."]
    return [
        f"{count(starred, 'record')} shown as `*` in at least one component{few}: "
        "they are outside its guarantees, their other cells are released."
    ]
