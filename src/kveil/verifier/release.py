"""Put the parts of a verification together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from kveil.arrays import Longs
from kveil.errors import DataError, Refused
from kveil.files import Beside, Source
from kveil.guarantee import Guarantee
from kveil.policy.components import largest_k
from kveil.policy.model import Policy
from kveil.verifier.alignment import Aligned, BesideOriginal
from kveil.verifier.dependencies import broken_rule, check_dependency
from kveil.verifier.form import check_form
from kveil.verifier.guarantees import can_check, check_model, name_of
from kveil.verifier.kept_cells import compare_kept
from kveil.verifier.labels import labels_that_run_over, misleading_labels, telling_labels
from kveil.verifier.left_out import warnings_of_left_out
from kveil.verifier.narrowing import narrowed_groups, narrowing_warnings
from kveil.verifier.rows import INDIVIDUAL, Rows, original_rows, release_rows, rule_texts
from kveil.verifier.starred_identifiers import shows_stars_alone
from kveil.verifier.starred_values import check_hidden_values
from kveil.verifier.stars import Stars, Suppressed, read_stars
from kveil.verifier.truth import (
    compare_generalized,
    impossible_stars,
    unknown_items,
    unknown_labels,
)
from kveil.verifier.verdict import DependencyCheck, SuppressionCheck, Verdict
from kveil.words import count, listing

NOTHING_BESIDE = Beside()


def can_verify(policy: Policy) -> None:
    """Raise Refused where a policy asks for what this version cannot verify."""
    cannot = sorted({model.model for model in policy.privacy if not can_check(model)})
    if cannot:
        raise Refused(f"this version of kveil cannot verify {listing(cannot)}; use a later version.")


def checkable_rows(release: Source, policy: Policy, *, times: Longs | None = None) -> Rows:
    """Return the rows of a release; raise where it, or the policy, cannot be checked.

    ``times`` says how many records or persons each row stands for, where equal ones were counted together.
    """
    can_verify(policy)
    absent = [name for name in policy.released if name not in release.columns]
    if absent:
        raise DataError(f"{release.name} lacks {listing(absent)}, which a release of this policy has.")
    rows = release_rows(release, policy)
    return rows if times is None else replace(rows, times=times)


def strange_columns(release: Source, policy: Policy) -> list[str]:
    """Return what is wrong with a release's columns."""
    numbered = policy.individual_column is not None and policy.release.shape == "long"
    wrong = []
    for name in release.columns:
        role = policy.attributes[name].role if name in policy.attributes else None
        if numbered and name == INDIVIDUAL:
            continue
        if role in {"identifier", "individual"}:
            stars = " It shows `*` alone: drop it, or give --foreign." if shows_stars_alone(release, name) else ""
            wrong.append(f"the column {name} has role {role} and must not be released.{stars}")
        elif role is None:
            wrong.append(f"the column {name} has no role in the policy and must not be released.")
    return wrong


def lay_beside(release: Source, original: Source, places: Longs, policy: Policy) -> Aligned:
    """Return a release with its original beside it; ``places`` says which row of the original each row is."""
    return Aligned.of(release, checkable_rows(release, policy), original, original_rows(original, policy), places)


def verify_release(
    release: Source, policy: Policy, *, original: Source | None = None, places: Longs | None = None
) -> Verdict:
    """Check a release by its texts, against the original where ``places`` says which row of it each row is."""
    if original is None or places is None:
        return verify_rows(release, checkable_rows(release, policy), policy)
    aligned = lay_beside(release, original, places, policy)
    return verify_rows(release, aligned.rows, policy, aligned=aligned)


def verify_rows(
    release: Source,
    rows: Rows,
    policy: Policy,
    *,
    aligned: BesideOriginal | None = None,
    beside: Beside = NOTHING_BESIDE,
) -> Verdict:
    """Check the rows of a release by their texts, against the original where they are ``aligned`` with it.

    Without an original: the guarantees and the dependencies. With it also that every cell is an ancestor of
    the original's, inside its boundary, that other cells are unchanged, and that the limit is kept. Rows are
    records, or persons where the policy names individuals. ``beside`` is what the release's file holds beside cells.
    """
    form = check_form(release, rows, policy, aligned)
    findings = [*strange_columns(release, policy), *beside.content, *rows.findings, *form.findings]
    stars = Stars.of(rows, policy)
    differences = None if aligned is None else compare_generalized(aligned, policy, stars)
    impossible = impossible_stars(policy, stars) if differences is None else differences.impossible
    suppressed = read_stars(policy, release, rows, stars, impossible)
    hidden = check_hidden_values(policy, release, rows, suppressed)
    kept = None if aligned is None else compare_kept(aligned, policy, hidden.rows)
    findings += unknown_labels(rows, policy, stars) if differences is None else differences.findings
    findings += misleading_labels(rows, policy)
    if aligned is not None:
        findings += telling_labels(aligned, policy)
    findings += [*hidden.findings, *([] if kept is None else kept.findings), *unknown_items(rows, policy)]
    guarantees, broken = judge_guarantees(policy, rows, stars, suppressed)
    dependencies = _dependencies(release, policy, rows, stars)
    suppression, beyond_limit = judge_suppression(rows, policy, suppressed, aligned)
    findings += [*broken, *(sentence for _, sentence in dependencies if sentence), *beyond_limit]
    warnings = star_warnings(policy, rows, suppression["starred"]) + labels_that_run_over(rows, policy)
    private_warnings = [] if aligned is None else warnings_of_left_out(policy, aligned, suppressed)
    if aligned is not None and policy.dependencies:
        narrowed = narrowed_groups(policy, release, aligned, suppressed.taking_part())
        private_warnings += narrowing_warnings(narrowed, rows.noun)
    if not rows.height:
        warnings.append("the release has no records.")
    return Verdict(
        guarantees=guarantees,
        dependencies=[checked for checked, _ in dependencies],
        suppression=suppression,
        boundaries=None if differences is None else {"violations": differences.beyond},
        truth=None if differences is None or kept is None else {"violations": differences.untrue + kept.untrue},
        unchanged=None if kept is None else {"violations": kept.changed},
        findings=findings,
        warnings=[*warnings, *form.warnings, *beside.form, *private_warnings],
        private_warnings=private_warnings,
    )


def judge_guarantees(
    policy: Policy, rows: Rows, stars: Stars, suppressed: Suppressed, *, chosen: Sequence[int] | None = None
) -> tuple[list[Guarantee], list[str]]:
    """Return every model as it was counted, and what breaks it; one that nobody takes part in protects nobody.

    Of the models those are judged that are ``chosen`` by their positions, all of them by default.
    """
    taking_part = suppressed.taking_part()
    released = rows.count(~stars.everywhere)
    guarantees, findings = [], []
    for i in range(len(policy.privacy)) if chosen is None else chosen:
        model = policy.privacy[i]
        guarantee, broken = check_model(model, policy, rows, taking_part[i])
        if released and not guarantee["groups"]:
            guarantee = {**guarantee, "holds": False}
            broken = [
                f"{name_of(model)} over {', '.join(guarantee['attributes'])} protects nobody: none of the "
                f"{count(released, rows.noun)} released takes part in it."
            ]
        guarantees.append(guarantee)
        findings += broken
    return guarantees, findings


def _dependencies(release: Source, policy: Policy, rows: Rows, stars: Stars) -> list[tuple[DependencyCheck, str]]:
    """Return every declared rule as it was tested, with a finding where a functional one is broken.

    Every row takes part that is not suppressed everywhere: also a person who shows items and nothing else.
    """
    if not policy.dependencies:
        return []
    shown = rule_texts(release, policy, stars=True).filter(~stars.everywhere.gather(rows.row_of))
    answers = []
    for rule in policy.dependencies:
        checked = check_dependency(rule, shown, policy.quasi_identifiers)
        sentence = ""
        if not checked["holds"] and not rule.multivalued:
            sentence = broken_rule(checked)
        answers.append((checked, sentence))
    return answers


def judge_suppression(
    rows: Rows, policy: Policy, suppressed: Suppressed, aligned: BesideOriginal | None
) -> tuple[SuppressionCheck, list[str]]:
    """Count what counts against the limit, as far as texts tell: a row once, wherever it is suppressed."""
    total = rows.number if aligned is None else aligned.before.number
    starred = rows.count(suppressed.anywhere) if rows.height else 0
    lost = max(total - rows.number, 0) + starred
    over = Fraction(lost) > Fraction(policy.suppression.limit) * total
    report: SuppressionCheck = {
        "records": lost,
        "starred": starred,
        "of": total,
        "limit": float(policy.suppression.limit),
        "holds": not over,
    }
    if not over:
        return report, []
    return report, [
        f"{count(lost, rows.noun)} of {total:,} suppressed, more than the limit of "
        f"{float(policy.suppression.limit):g} allows."
    ]


def star_warnings(policy: Policy, rows: Rows, starred: int) -> list[str]:
    """Warn of suppressed rows that are shown: they are outside guarantees, and few of them are as good as named."""
    if not starred:
        return []
    k = largest_k(policy)
    few = f", fewer than {k}" if starred < k else ""
    if rows.persons:
        return [f"{count(starred, 'person')} shown as `*`{few}: they are outside every guarantee."]
    return [
        f"{count(starred, 'record')} shown as `*` in at least one component{few}: "
        "they are outside its guarantees, their other cells are released."
    ]
