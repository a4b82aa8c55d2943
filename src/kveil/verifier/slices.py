"""A release whose groups are too many to be counted at once: judged slice by slice, and as a whole by what adds up.

A slice has all rows of some groups, whatever model counts them. In a slice are judged the models, the cells that must
stay as they were, and how cells are written; of all slices together truth, boundaries, labels, the limit, and who was
left out, which depend on how often something occurs and not on who stands beside whom.

Where no attribute is in all models, the release is sliced several times, and each time those models are judged whose
groups the slices hold whole (`slicings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kveil.files import Source
from kveil.guarantee import Guarantee
from kveil.policy.model import Policy
from kveil.policy.privacy import AlphaK, LDiversity, PrivacyModel, TCloseness
from kveil.verifier.counts import (
    CountedRelease,
    CountedSides,
    OriginalCounts,
    Questions,
    ReleaseCounts,
    Totals,
    incomplete,
    lay_counts,
    questions,
    was_of,
)
from kveil.verifier.dependencies import broken_rule, check_dependency
from kveil.verifier.form import check_form
from kveil.verifier.kept_cells import compare_kept
from kveil.verifier.labels import labels_that_run_over, misleading_labels, telling_labels
from kveil.verifier.left_out import warnings_of_left_out
from kveil.verifier.narrowing import rule_columns
from kveil.verifier.release import judge_guarantees, judge_suppression, star_warnings, strange_columns
from kveil.verifier.rows import ITEM, ROW, SIZE, TIMES, Rows, WholeRelease, known_items, rule_texts
from kveil.verifier.starred_values import check_hidden_values
from kveil.verifier.stars import Stars, Suppressed, read_stars
from kveil.verifier.truth import compare_generalized, unknown_items
from kveil.verifier.verdict import DependencyCheck, Verdict

SOMETHING = "something"  # what rows show that are not told apart any more


@dataclass(frozen=True)
class Slicing:
    """A way to slice a release: by attributes that some models, given by their positions, all are over."""

    models: tuple[int, ...]
    attributes: tuple[str, ...]


def slicings(policy: Policy) -> list[Slicing]:
    """Return how a release is sliced so that the groups of every model are whole at least once; once at least."""
    found: list[Slicing] = []
    for i, model in enumerate(policy.privacy):
        own = policy.attributes_of(model)
        for place, slicing in enumerate(found):
            shared = tuple(name for name in slicing.attributes if name in own)
            if shared:
                found[place] = Slicing((*slicing.models, i), shared)
                break
        else:
            found.append(Slicing((i,), own))
    return found or [Slicing((), tuple(policy.quasi_identifiers))]


@dataclass
class SlicedRelease:
    """Judges the slices of a release one after another; `verdict` judges them together.

    ``everyone`` has, for every sensitive attribute that a model compares with the whole, its cells in the rows that
    take part, with how many there are: what slices are compared with. That it is what the slices add up to is checked.
    """

    policy: Policy
    types: Mapping[str, pl.DataType]
    everyone: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    _findings: dict[str, None] = field(default_factory=dict, init=False)
    _warnings: dict[str, None] = field(default_factory=dict, init=False)
    _guarantees: dict[int, list[Guarantee]] = field(default_factory=dict, init=False)
    _untrue: int = field(default=0, init=False)
    _changed: int = field(default=0, init=False)
    _labels: dict[str, set[str]] = field(default_factory=dict, init=False)
    _whole: ReleaseCounts | None = field(default=None, init=False)
    _again: dict[Slicing, Totals] = field(default_factory=dict, init=False)
    _sides: dict[str, pl.DataFrame] = field(default_factory=dict, init=False)

    def add(self, counts: ReleaseCounts, slicing: Slicing) -> None:
        """Judge a slice by what was counted of it, and of the models those that it is made for."""
        assert counts.original is not None, "slices are judged beside their original"
        policy = self.policy
        laid = lay_counts(policy, counts)
        rows = replace(laid.rows, whole=self._compared_with())
        aligned = _strict(laid, rows)
        form = check_form(laid.release, rows, policy, aligned)
        suppressed, broken = self._judge_models(laid, rows, slicing)
        hidden = check_hidden_values(policy, laid.release, rows, suppressed)
        kept = compare_kept(aligned, policy, hidden.rows)
        self._untrue += kept.untrue
        self._changed += kept.changed
        told = [
            *strange_columns(laid.release, policy),
            *rows.findings,
            *form.findings,
            *hidden.findings,
            *kept.findings,
            *unknown_items(rows, policy),
        ]
        self._findings |= dict.fromkeys([*told, *broken, *incomplete(policy, counts)])
        self._warnings |= dict.fromkeys(form.warnings)
        self._add_sides(laid, rows)
        for name in policy.quasi_identifiers:
            self._labels.setdefault(name, set()).update(rows.labels(name))
        own = _as_stars_or_not(counts, questions(policy, self.types))
        self._whole = own if self._whole is None else _both(self._whole, own)

    def _add_sides(self, laid: CountedRelease, rows: Rows) -> None:
        """Keep the different tuples that the columns of each rule show."""
        if not self.policy.dependencies:
            return
        everywhere = Stars.of(rows, self.policy).everywhere
        shown = rule_texts(laid.release, self.policy, stars=True).filter(~everywhere.gather(rows.row_of))
        for rule in self.policy.dependencies:
            own = [shown.select(rule_columns(rule))]
            own += [self._sides[rule.rule]] if rule.rule in self._sides else []
            self._sides[rule.rule] = pl.concat(own).unique()

    def _judge_rules(self) -> tuple[list[DependencyCheck], list[str]]:
        """Return every rule as it was tested; one that is about whole rows is never known to hold."""
        checked, findings = [], []
        for rule in self.policy.dependencies:
            if rule.multivalued:
                findings.append(f"the dependency {rule.rule} is about whole rows, which slices do not tell of.")
                continue
            told = check_dependency(rule, self._sides[rule.rule], self.policy.quasi_identifiers)
            checked.append(told)
            if not told["holds"]:
                findings.append(broken_rule(told))
        return checked, findings

    def add_again(self, counts: ReleaseCounts, slicing: Slicing) -> None:
        """Judge those models in a slice that a slicing beside the first one is made for; only rows are counted."""
        laid = lay_counts(self.policy, counts)
        rows = replace(laid.rows, whole=self._compared_with())
        self._findings |= dict.fromkeys(self._judge_models(laid, rows, slicing)[1])
        before = self._again.get(slicing)
        self._again[slicing] = counts.written if before is None else _sum(before, counts.written)

    def _compared_with(self) -> WholeRelease:
        return WholeRelease(items={name: _items(self.policy, name, frame) for name, frame in self.everyone.items()})

    def _judge_models(self, laid: CountedRelease, rows: Rows, slicing: Slicing) -> tuple[Suppressed, list[str]]:
        """Judge the models of a slicing in one of its slices; return who counts as suppressed, and findings."""
        policy, stars = self.policy, Stars.of(rows, self.policy)
        nobody = pl.Series(np.zeros(rows.height, dtype=bool))
        suppressed = read_stars(policy, laid.release, rows, stars, tuple(nobody for _ in stars.parts))
        guarantees, broken = judge_guarantees(policy, rows, stars, suppressed, chosen=slicing.models)
        for i, guarantee in zip(slicing.models, guarantees, strict=True):
            self._guarantees.setdefault(i, []).append(guarantee)
        if len(stars.parts) > 1 and stars.anywhere.any():
            # Whether they are a group, or suppressed, is a question about all of them, who stand in several slices.
            broken.append("rows show `*` in all attributes of some models, and slices do not tell what that means.")
        return suppressed, broken

    def together(self) -> tuple[CountedRelease, ReleaseCounts]:
        """Return all slices as one release, in which rows are told apart by their stars and sensitive cells alone."""
        assert self._whole is not None, "a release has one slice at least"
        laid = lay_counts(self.policy, self._whole)
        rows = replace(laid.rows, whole=WholeRelease({name: frozenset(own) for name, own in self._labels.items()}))
        assert laid.aligned is not None
        return replace(laid, rows=rows, aligned=replace(laid.aligned, rows=rows)), self._whole

    def verdict(self) -> Verdict:
        """Return the verdict on the whole release."""
        policy = self.policy
        laid, counts = self.together()
        rows, aligned = laid.rows, laid.aligned
        assert aligned is not None
        stars = Stars.of(rows, policy)
        differences = compare_generalized(aligned, policy, stars)
        suppressed = read_stars(policy, laid.release, rows, stars, differences.impossible)
        suppression, beyond_limit = judge_suppression(rows, policy, suppressed, aligned)
        findings = [*differences.findings, *misleading_labels(rows, policy), *telling_labels(aligned, policy)]
        findings += [*self._findings, *self._strange_whole(rows, stars), *beyond_limit, *incomplete(policy, counts)]
        if any(totals != counts.written for totals in self._again.values()):
            findings.append("the release as it was read again is not the one that was compared with the original.")
        private_warnings = warnings_of_left_out(policy, aligned, suppressed)
        dependencies, broken = self._judge_rules()
        findings += broken
        warnings = star_warnings(policy, rows, suppression["starred"]) + labels_that_run_over(rows, policy)
        warnings += self._warnings
        if not rows.number:
            warnings.insert(0, "the release has no records.")
        return Verdict(
            guarantees=[_together(model, tuple(self._guarantees[i])) for i, model in enumerate(policy.privacy)],
            dependencies=dependencies,
            suppression=suppression,
            boundaries={"violations": differences.beyond},
            truth={"violations": differences.untrue + self._untrue},
            unchanged={"violations": self._changed},
            findings=list(dict.fromkeys(findings)),
            warnings=[*warnings, *private_warnings],
            private_warnings=private_warnings,
        )

    def _strange_whole(self, rows: Rows, stars: Stars) -> list[str]:
        """Return a finding where slices were compared with another whole than what they add up to."""
        here = np.flatnonzero(~stars.everywhere.to_numpy())
        for name, frame in self.everyone.items():
            own = rows.items[name].filter(pl.col(ROW).is_in(here))
            counted = rows.tally(own, [ITEM], SIZE, rows=own[ROW].to_numpy()).sort(ITEM)
            told = _items(self.policy, name, frame).sort(ITEM)
            if not counted.cast({SIZE: pl.Int64}).equals(told.cast({SIZE: pl.Int64})):
                return [f"{name} was compared with other values than the release has."]
        return []


def _items(policy: Policy, name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return typed cells of a sensitive attribute, with counts, as the values that models count."""
    items = known_items(Source("the counts", frame.select(name), "frame"), policy, name)
    times = frame[TIMES].cast(pl.Int64).gather(items[ROW].cast(pl.Int64))
    return items.select(ITEM).with_columns(times.alias(SIZE)).group_by(ITEM).agg(pl.col(SIZE).sum())


def _strict(laid: CountedRelease, rows: Rows) -> CountedSides:
    """Return a slice beside its original; missing is written in each cell as the original's own cell has it."""
    assert laid.aligned is not None
    return replace(laid.aligned, rows=rows, slice_of_rows=True)


def _as_stars_or_not(counts: ReleaseCounts, asked: Questions) -> ReleaseCounts:
    """Return a slice in which rows of nothing but stars stay, and of others only sensitive cells are told apart."""
    names = [name for part in asked.parts for name in part]
    texts = [text for text in asked.star_texts if text is not None]
    star = pl.all_horizontal(pl.col(names).is_in(texts)).fill_null(value=False) if names else pl.lit(False)
    hidden = [pl.when(star).then(pl.col(name)).otherwise(pl.lit(SOMETHING)).alias(name) for name in names]
    own = [pl.when(star).then(pl.col(was_of(name))).alias(was_of(name)) for name in asked.where_starred]
    columns = [*asked.rows, *(was_of(name) for name in (*asked.beside, *asked.where_starred)), TIMES]
    rows = add_counts([counts.rows.with_columns(*hidden, *own).select(columns)])
    return replace(counts, rows=rows, read_back=rows.select(*asked.rows, TIMES), apart={})


def add_counts(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Return counts of several slices as one."""
    frame = pl.concat(frames)
    names = [name for name in frame.columns if name != TIMES]
    return frame.group_by(names).agg(pl.col(TIMES).sum()) if names else frame.select(pl.col(TIMES).sum())


def _both(one: ReleaseCounts, other: ReleaseCounts) -> ReleaseCounts:
    """Return what was counted of two slices as one."""
    assert one.original is not None
    assert other.original is not None
    first, second = one.original, other.original
    original = OriginalCounts(
        first.rows + second.rows,
        add_counts([first.left_out, second.left_out]),
        {name: add_counts([own, second.pairs[name]]) for name, own in first.pairs.items()},
        {name: add_counts([own, second.values[name]]) for name, own in first.values.items()},
        {},
        _sum(first.joined, second.joined),
    )
    rows, read_back = add_counts([one.rows, other.rows]), add_counts([one.read_back, other.read_back])
    return replace(one, rows=rows, read_back=read_back, written=_sum(one.written, other.written), original=original)


def _sum(one: Totals, other: Totals) -> Totals:
    return Totals(one.rows + other.rows, tuple(a + b for a, b in zip(one.sums, other.sums, strict=True)))


def _together(model: PrivacyModel, slices: tuple[Guarantee, ...]) -> Guarantee:
    """Return what a model's figures are over all slices."""
    counted = [own for own in slices if own["groups"]] or [slices[0]]
    told = [own["worst"] for own in counted]
    known = [worst for worst in told if worst is not None]
    largest = isinstance(model, (AlphaK, TCloseness)) or (
        isinstance(model, LDiversity) and model.variant == "recursive"
    )
    unbounded = isinstance(model, LDiversity) and model.variant == "recursive" and len(known) < len(told)
    worst = None if unbounded or not known else max(known) if largest else min(known)
    together: Guarantee = {**counted[0], "worst": worst, "groups": sum(own["groups"] for own in slices)}
    together["holds"] = all(own["holds"] for own in slices)
    if "smallest" in counted[0]:
        sizes = [own["smallest"] for own in counted if own["smallest"] is not None]
        together["smallest"] = min(sizes, default=None)
    return together
