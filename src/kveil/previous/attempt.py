"""Solve a table so that its release holds together with earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kveil.algorithms.algorithm import Algorithm
from kveil.algorithms.stars import star_cells
from kveil.algorithms.suppression import beyond_limit
from kveil.arrays import Bools, Ints
from kveil.choose import Attempt, attempt
from kveil.errors import Unmeetable
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.measures import measure_solution
from kveil.models.distributions import distribution_model
from kveil.models.groups import Groups, Pairs
from kveil.policy.attributes import Ranges
from kveil.policy.components import most_suppressed
from kveil.policy.privacy import single_sensitive
from kveil.previous.demands import demand_in_words, value_name
from kveil.previous.earlier_looks import Past
from kveil.previous.fixed_attributes import fixed_table
from kveil.previous.withhold import already_broken, hide_groups, withhold_company
from kveil.progress import Progress
from kveil.table.order import sorted_rows
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.words import count

LEFT = "people who looked alike in an earlier release are in the table no more"
TOO_FEW = "too few of those who looked alike in an earlier release would be shown, or not shown"


@dataclass(frozen=True)
class TogetherAttempt:
    """An attempt that holds together with earlier releases, and how many rows were withheld for their sake."""

    attempt: Attempt
    withheld: int
    leavers: int

    def warnings(self, noun: str) -> list[str]:
        """Say what was lost for the sake of earlier releases."""
        if not self.withheld:
            return []
        people = count(self.leavers, "person")
        return [
            f"{count(self.withheld, noun)} withheld, which counts as suppressed: of those they looked alike with in "
            f"earlier releases too few would be shown, or too few not shown ({people} of these left the table)."
        ]


def attempt_together(table: Table, past: Past, algorithms: Sequence[Algorithm], progress: Progress) -> TogetherAttempt:
    """Return a solution whose release, together with all earlier ones, keeps every model.

    Says so before anything is tried where more would have to be withheld than the policy's limit allows. That earlier
    releases do not already break one, `check_before` says.
    """
    order = sorted_rows([*table.low, *table.high, past.ties])
    company = withhold_company(past, order, past.leavers)
    hidden, withheld = company, int(company[: past.rows].sum())
    _check_withheld(table, past, withheld)
    while True:
        kept = ~hidden[: past.rows]
        chosen = attempt(fixed_table(table, past, kept), algorithms, progress)
        whole = _whole_solution(table, chosen.solution, kept)
        out = whole.suppressed_anywhere | (star_cells(whole.shown, table.rows) & (not table.stars_take_part))
        groups = _groups(table, past, whole)
        after = hide_groups(past, groups, np.append(out, past.leavers[past.rows :]))
        more = int((after[: past.rows] & ~out).sum())
        withheld += more
        unseen = bool((after[: past.rows] & ~whole.suppressed_anywhere).any())  # the search took these for shown
        if (more and _labels_depend_on_who_is_shown(table)) or (
            unseen and _breaks_by_new_values(table, past, groups, after)
        ):
            hidden = hidden | after  # spans, intervals and distributions are those of who is released: solve once more
            continue
        final = _finished(table, chosen, whole, after[: past.rows], company)
        return TogetherAttempt(final, withheld, _gone(past))


def _gone(past: Past) -> int:
    return past.people - past.rows


def check_before(past: Past) -> None:
    """Raise Unmeetable where earlier releases already break what must hold over all: no new one can mend that."""
    own = [i for i, demand in enumerate(past.demands) if demand.given is None]
    broken = int(already_broken(past, positions=own).sum())
    if broken:
        raise Unmeetable(
            f"the earlier releases already break the policy together, for {count(broken, 'person')}: no new "
            "release can mend that; leave an archive out, or ask for less.",
            lost=broken,
        )
    for position, demand in enumerate(past.demands):
        broken = int(already_broken(past, positions=[position]).sum())
        if broken:
            raise Unmeetable(
                f"the earlier releases together already break what one of them promised, {demand_in_words(demand)}, "
                f"for {count(broken, 'person')}: no new release can mend that; leave an archive out, or give --weaker "
                "to go on without that promise.",
                lost=broken,
            )


def _check_withheld(table: Table, past: Past, withheld: int) -> None:
    allowed = most_suppressed(table.policy, table.records)
    if withheld > allowed:
        raise Unmeetable(
            f"{count(withheld, table.noun)} of {table.records:,} must be withheld, since "
            f"{count(_gone(past), 'person')} of earlier releases are in the table no more and would be told "
            f"apart from those they were shown with; the limit allows {allowed:,}: raise suppression.limit, or leave "
            "an archive out.",
            lost=withheld,
        )


def _labels_depend_on_who_is_shown(table: Table) -> bool:
    quasi = (table.policy.attributes[name].hierarchy for name in table.names)
    return bool(table.fractions) or any(isinstance(hierarchy, Ranges) for hierarchy in quasi)


def _breaks_by_new_values(table: Table, past: Past, groups: Sequence[Ints], hidden: Bools) -> bool:
    """Tell whether a group breaks a model by the values that the new release shows, once more people are hidden.

    The distribution that t-closeness compares with is then another one, and groups of other attributes have lost some.
    """
    for position, (demand, own) in enumerate(zip(past.demands, groups, strict=True)):
        name = single_sensitive(demand.model)
        values = None if name is None else past.now.values.get(value_name(position), table.sensitive.get(name))
        if name is None or values is None:
            continue
        shown = ~hidden[: past.rows] & ~past.free[position][: past.rows]
        different, codes = np.unique(own[shown], return_inverse=True)
        number = len(different)
        members = np.full(past.rows, number, dtype=np.int32)
        members[shown] = codes.reshape(-1)
        weights = (~hidden[: past.rows]).astype(np.int64)
        pairs = Pairs(values.row, values.code, np.ones(len(values.row), dtype=np.int64), values.known)
        judged = Groups(members, number + 1, weights, {name: pairs})
        if not distribution_model(demand.model, values).good(judged)[:number].all():
            return True
    return False


def _whole_solution(table: Table, solution: Solution, kept: Bools) -> Solution:
    """Return a solution of some rows as one of all rows, without the attributes of looks; others are suppressed."""
    rows = np.flatnonzero(kept)
    shown = []
    for column in solution.shown[: len(table.names)]:
        codes = np.zeros(table.rows, dtype=np.int32)
        codes[rows] = column.codes
        shown.append(replace(column, codes=codes))
    gone = np.ones(table.rows, dtype=bool)
    gone[rows] = solution.suppressed_anywhere
    reasons = {reason: rows[own].astype(np.int32) for reason, own in solution.reasons.items()}
    suppressed = np.tile(gone, (len(table.components), 1))
    return Solution(tuple(shown), suppressed, _in_words(reasons), solution.details, items=solution.items)


def _in_words(reasons: dict[str, Ints]) -> dict[str, Ints]:
    """Return reasons without names of looks, which are no attributes."""
    plain: dict[str, Ints] = {}
    for reason, rows in reasons.items():
        text = ", ".join(part for part in reason.split(", ") if "\0" not in part)
        plain[text] = np.union1d(plain.get(text, rows), rows).astype(np.int32)
    return plain


def _groups(table: Table, past: Past, solution: Solution) -> list[Ints]:
    """Return, per demand, the group of every row: what it shows, among those who looked alike before."""
    policy = table.policy
    codes: dict[str, Ints] = dict(zip(policy.quasi_identifiers, (s.codes for s in solution.shown), strict=True))
    groups = []
    for demand, fixed in zip(past.demands, past.fixed, strict=True):
        own = [codes[name] for name in demand.generalized_in(policy)]
        groups.append(group_rows(np.array([*own, fixed], dtype=np.int32))[0])
    return groups


def _finished(table: Table, chosen: Attempt, whole: Solution, out: Bools, company: Bools) -> Attempt:
    """Return the attempt for all rows; raise Unmeetable where more are not shown than the limit allows."""
    lost, allowed = int(out.sum()), most_suppressed(table.policy, table.records)
    if lost > allowed:
        raise beyond_limit(table, f"{chosen.algorithm.name} together with earlier releases", lost, allowed)
    withheld = company[: table.rows]
    reasons = dict(whole.reasons)
    told = np.zeros(table.rows, dtype=bool)
    for rows in reasons.values():
        told[rows] = True
    for reason, these in ((LEFT, withheld), (TOO_FEW, out & ~withheld & ~told)):
        if these.any():
            reasons[reason] = np.flatnonzero(these).astype(np.int32)
    solution = replace(whole, suppressed=np.tile(out, (len(table.components), 1)), reasons=reasons)
    return replace(chosen, solution=solution, losses=measure_solution(table, solution))
