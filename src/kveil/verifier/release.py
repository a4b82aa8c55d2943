"""Put the parts of a verification together."""

from __future__ import annotations

from fractions import Fraction

import polars as pl

from kveil.arrays import Longs
from kveil.errors import DataError, Refused
from kveil.files import Source
from kveil.policy.attributes import STAR
from kveil.policy.components import Component, components, largest_k
from kveil.policy.model import Policy
from kveil.verifier.guarantees import can_check, check_dependency, check_model
from kveil.verifier.labels import telling_labels
from kveil.verifier.narrowing import refined_groups, refinement_warnings
from kveil.verifier.rows import INDIVIDUAL, Rows, release_rows, rule_texts
from kveil.verifier.truth import Comparison, compare, impossible_stars, unknown_items, unknown_labels
from kveil.verifier.verdict import Verdict
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


def _stars(rows: Rows, parts: tuple[Component, ...]) -> pl.DataFrame:
    """Return for every component the rows that take no part in it: rows of stars, persons whose items are stars."""
    if rows.persons and rows.items:
        return pl.DataFrame({str(c): rows.starred for c in range(len(parts))})
    return pl.DataFrame(
        {
            str(c): rows.texts.select(pl.all_horizontal(pl.col(part.attributes) == STAR).alias("star"))["star"]
            if part.attributes
            else rows.starred  # plain sets of items: there is nothing else to show
            for c, part in enumerate(parts)
        }
    )


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
    parts = components(policy)
    starred = _stars(rows, parts)
    all_star = starred.select(pl.all_horizontal(pl.all()).alias("star"))["star"]
    comparison: Comparison | None = None
    if original is not None:
        assert places is not None
        comparison = compare(release, rows, original, places, policy, parts, starred)
        findings += comparison.findings + telling_labels(rows, original, policy)
    else:
        findings += unknown_labels(rows.texts, policy, parts, starred)

    findings += unknown_items(rows, policy)
    guarantees = []
    counted: dict[int, pl.Series] = {}
    for c, part in enumerate(parts):
        taking_part = ~starred[str(c)]
        for i in part.models:
            counted[i] = taking_part
            guarantee, finding = check_model(policy.privacy[i], policy, rows, taking_part)
            guarantees.append((i, guarantee))
            findings += finding
    guarantees.sort(key=lambda pair: pair[0])

    dependencies = []
    if policy.dependencies:
        shown = rule_texts(release, policy, stars=True)
        shown = shown.filter(~pl.all_horizontal(pl.col(policy.quasi_identifiers) == STAR))
        for rule in policy.dependencies:
            checked = check_dependency(rule, shown, policy.quasi_identifiers)
            dependencies.append(checked)
            if not checked["holds"] and not rule.multivalued:
                findings.append(
                    f"the dependency {rule.rule} does not hold: {count(checked['broken'], 'left side')} "
                    "shown with more than one right side."
                )
    suppression, finding = _suppression(rows, policy, comparison, all_star, starred, parts)
    findings += finding
    warnings = _star_warnings(policy, rows, suppression["starred"], _uniform(policy, rows, parts, starred))
    private_warnings = []
    if original is not None and policy.dependencies:
        refined = refined_groups(policy, rows, release, original, counted)
        private_warnings = refinement_warnings(refined, rows.persons)
    if not rows.height:
        warnings.append("the release has no records.")
    return Verdict(
        guarantees=[guarantee for _, guarantee in guarantees],
        dependencies=dependencies,
        suppression=suppression,
        boundaries=None if comparison is None else {"violations": comparison.beyond},
        truth=None if comparison is None else {"violations": comparison.untrue},
        unchanged=None if comparison is None else {"violations": comparison.changed},
        findings=findings,
        warnings=warnings + private_warnings,
        private_warnings=private_warnings,
    )


def _suppression(
    rows: Rows,
    policy: Policy,
    comparison: Comparison | None,
    all_star: pl.Series,
    starred: pl.DataFrame,
    parts: tuple[Component, ...],
) -> tuple[dict[str, object], list[str]]:
    """Count what counts against the limit, as far as texts tell."""
    if rows.persons and rows.items:
        forced = all_star
    elif comparison is not None:
        forced = comparison.starred
    else:
        forced = impossible_stars(policy, parts, starred)
    stars = int((all_star | forced).sum())
    total = rows.height if comparison is None else comparison.original_rows
    suppressed = max(total - rows.height, 0) + stars
    over = Fraction(suppressed) > Fraction(policy.suppression.limit) * total
    report: dict[str, object] = {
        "records": suppressed,
        "starred": int(starred.select(pl.any_horizontal(pl.all()).alias("any"))["any"].sum()) if rows.height else 0,
        "of": total,
        "limit": float(policy.suppression.limit),
        "holds": not over,
    }
    if not over:
        return report, []
    noun = "individual" if rows.persons else "record"
    return report, [
        f"{count(suppressed, noun)} of {total:,} suppressed, more than the limit of "
        f"{float(policy.suppression.limit):g} allows."
    ]


def _uniform(policy: Policy, rows: Rows, parts: tuple[Component, ...], starred: pl.DataFrame) -> list[str]:
    """Return the sensitive attributes in which the rows of stars of some component, as a group, break its models."""
    found = []
    for c, part in enumerate(parts):
        stars = starred[str(c)]
        for model in (policy.privacy[i] for i in part.models):
            if rows.persons or not stars.any() or not hasattr(model, "sensitive"):
                continue  # a starred person's items are stars themselves
            if not check_model(model, policy, rows, stars)[0]["holds"]:
                found.append(str(model.sensitive))
    return list(dict.fromkeys(found))


def _star_warnings(policy: Policy, rows: Rows, starred: object, uniform: list[str]) -> list[str]:
    """Warn of rows shown as stars: they are outside every guarantee, and few of them are as good as named."""
    if not isinstance(starred, int) or not starred:
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
