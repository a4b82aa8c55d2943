"""Losses: every measure, on every run, of any release that has been read back into codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import TypedDict

import numpy as np

from kveil.arrays import Bools, Floats, Longs
from kveil.errors import PolicyError
from kveil.kernels.grouping.equal_rows import add_up, group_rows
from kveil.policy.components import largest_k
from kveil.policy.entry_points import MEASURE_GROUP, entry_points_of, load_plugged, package_of
from kveil.policy.model import Policy
from kveil.stopping import check_cancelled
from kveil.table.midpoints import as_written, asks_for_midpoints
from kveil.table.solution import Classes, Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree


class Shares(TypedDict):
    """The mean losses of one attribute's cells."""

    precision: float
    il_per_cell: float
    ncp: float


class LossFigures(Shares):
    """All measures of a release as plain data; ``il`` is a total."""

    il: float
    sa_ncp: float | None
    discernibility: int
    average_group: float


@dataclass(frozen=True)
class AttributeLoss:
    """The mean loss of one attribute's cells, as shares."""

    precision: float
    il_per_cell: float
    ncp: float

    def of(self, name: str) -> float:
        """Return the share by the loss that a policy names, the smaller the better."""
        return 1 - self.precision if name == "precision" else self.il_per_cell if name == "il" else self.ncp


@dataclass(frozen=True)
class Losses:
    """All measures of one release. Shares, never rounded; ``il`` is a total.

    precision: Sweeney 2002; il: Miller et al. 2008, definitions 10–11; ncp: Gong et al. 2017, equations 1–3;
    discernibility: Bayardo and Agrawal 2005; average_group: LeFevre et al. 2006, over the largest k.
    """

    precision: float
    il: float
    il_per_cell: float
    ncp: float
    sa_ncp: float | None
    discernibility: int
    _: KW_ONLY
    average_group: float
    attributes: dict[str, AttributeLoss]

    def as_json(self) -> LossFigures:
        """Return the account's ``loss``: the measures of the whole release."""
        return {
            "precision": self.precision,
            "il": self.il,
            "il_per_cell": self.il_per_cell,
            "ncp": self.ncp,
            "sa_ncp": self.sa_ncp,
            "discernibility": self.discernibility,
            "average_group": self.average_group,
        }

    def by_attribute(self) -> dict[str, Shares]:
        """Return the account's ``loss_by_attribute``."""
        return {
            name: {"precision": loss.precision, "il_per_cell": loss.il_per_cell, "ncp": loss.ncp}
            for name, loss in self.attributes.items()
        }

    def of(self, name: str) -> float:
        """Return the loss a policy minimizes, the smaller the better."""
        return 1 - self.precision if name == "precision" else self.il if name == "il" else self.ncp


@dataclass(frozen=True)
class Measure:
    """A measure that another package brings along: a number for a solution of a table, the smaller the better."""

    name: str
    compute: Callable[[Table, Solution], float]
    summary: str


def plugged_measures(table: Table, solution: Solution) -> dict[str, float]:
    """Return what the measures of other packages say of a solution, by name."""
    values = {}
    for name, point in sorted(entry_points_of(MEASURE_GROUP).items()):
        package = package_of(point)
        try:
            measure = load_plugged(point)
            if not isinstance(measure, Measure) or measure.name != name:
                raise TypeError
            values[name] = float(measure.compute(table, solution))
        except Exception as error:
            raise PolicyError(
                f"the measure {name} of {package} failed ({type(error).__name__}); update the package or uninstall it."
            ) from None
    return values


def _mean(cost: Floats, tally: Longs, records: int) -> float:
    """Return the mean over records of what their codes cost; those in no tally are suppressed and cost 1."""
    return float((tally @ cost + records - int(tally.sum())) / max(records, 1))


def _precision_loss(table: Table, position: int, shown: Shown, suppressed: Bools, tally: Longs) -> float:
    tree = table.trees[position]
    if not isinstance(tree, Tree):
        return _mean(shown.il, tally, table.records)
    bottom = tree.depth[tree.leaf_nodes]
    if len(shown.labels) == len(tree.labels) and (bottom == bottom[0]).all():
        return _mean((bottom[0] - tree.depth) / max(int(bottom[0]), 1), tally, table.records)
    # Counted by pairs of depths, so that the sum is exact in any order of records; codes past the tree's nodes
    # are labels it does not know and cost everything.
    depths = int(tree.depth.max()) + 2
    depth = np.append(tree.depth, np.zeros(len(shown.labels) - len(tree.labels), dtype=np.int32))
    key = (tree.depth[tree.leaf_nodes] * depths)[table.leaves[position]] + depth[shown.codes]
    counts = table.tally(key, depths * depths, chosen=~suppressed if suppressed.any() else None)
    leaf, node = np.divmod(np.arange(depths * depths), depths)
    cost = np.clip((leaf - node) / np.maximum(leaf, 1), 0, 1)  # another branch may lie deeper
    return float((counts @ cost + table.count(suppressed)) / max(table.records, 1))


def _groups(table: Table, solution: Solution, classes: Classes, starred: list[Bools]) -> tuple[Longs, int]:
    """Return the sizes of the groups of equal released rows, and how many records are in none.

    A row of stars is in none, unless it takes part: a person whose items are shown is in a group all the same.
    """
    if not solution.shown:
        outside = table.count(solution.suppressed_anywhere)
        kept = table.records - outside
        return np.array([kept] if kept else [], dtype=np.int64), outside
    codes = np.empty((len(starred), len(classes.sizes)), dtype=np.int32)
    all_star = np.ones(len(classes.sizes), dtype=bool)
    for position, shown in enumerate(solution.shown):
        star = np.flatnonzero(shown.is_star)
        code = int(star[0]) if len(star) else len(shown.labels)
        codes[position] = shown.codes[classes.first]
        if starred[position].any():
            codes[position][starred[position]] = code
        if all_star.any():
            all_star &= codes[position] == code
    if table.stars_take_part and all_star.any():
        all_star &= solution.suppressed_anywhere[classes.first]
    if not all_star.any():
        group, first = group_rows(codes)
        return add_up(group, classes.sizes, len(first)), 0
    group, first = group_rows(np.compress(~all_star, codes, axis=1))
    sizes = add_up(group, classes.sizes[~all_star], len(first))
    return sizes, int(classes.sizes[all_star].sum())


def items_loss(table: Table, solution: Solution) -> tuple[float, int]:
    """Return what the items that a model generalizes lose in all (Gong et al. 2017, equation 4), and how many they are.

    Every original item is charged with the NCP of what it became; 1 for suppressed people and for lost items.
    """
    lost, number = 0.0, 0
    gone = solution.suppressed_anywhere
    for name in table.policy.generalized:
        sensitive = table.sensitive[name]
        if sensitive.tree is None:
            raise ValueError(f"{name} has no tree, though a model generalizes it")
        cost = np.append(sensitive.tree.ncp, 1.0)
        shown = np.where(gone[sensitive.row], len(cost) - 1, solution.items[name])
        if table.times is None:
            counts = np.bincount(shown, minlength=len(cost))
        else:
            counts = add_up(shown, table.times[sensitive.row], len(cost))
        lost += float(counts @ cost)
        number += int(counts.sum())
    return lost, number


@dataclass(frozen=True)
class GroupSizes:
    """The groups of equal released rows: how many there are, and of their sizes the sum and the sum of squares.

    ``outside`` are the records that are in none.
    """

    number: int
    records: int
    squares: int
    outside: int


def attribute_losses(
    table: Table, solution: Solution, classes: Classes, starred: list[Bools]
) -> dict[str, AttributeLoss]:
    """Return the losses of every attribute's cells; ``starred`` are, per attribute, the classes that show `*`."""
    attributes: dict[str, AttributeLoss] = {}
    for position, name in enumerate(table.names):
        check_cancelled()
        shown = solution.shown[position]
        tally = classes.tally(shown.codes[classes.first], len(shown.labels), starred[position])
        suppressed = solution.suppressed[table.component_of[name]]
        attributes[name] = AttributeLoss(
            precision=1 - _precision_loss(table, position, shown, suppressed, tally),
            il_per_cell=_mean(shown.il, tally, table.records),
            ncp=_mean(shown.ncp, tally, table.records),
        )
    return attributes


def starred_classes(table: Table, solution: Solution, classes: Classes) -> list[Bools]:
    """Return for every attribute the classes whose records are suppressed in its component."""
    return [solution.suppressed[table.component_of[name]][classes.first] for name in table.names]


def measure_solution(table: Table, solution: Solution) -> Losses:
    """Return all losses of a solution; suppressed cells cost the maximum.

    O(records · attributes).
    """
    classes = solution.classes if table.times is None else solution.classes.weighed(table.times)
    starred = starred_classes(table, solution, classes)
    attributes = attribute_losses(table, solution, classes, starred)
    sizes, outside = _groups(table, solution, classes, starred)
    groups = GroupSizes(len(sizes), int(sizes.sum()), int((sizes**2).sum()), outside)
    suppressed = table.count(solution.suppressed_anywhere)
    lost, items = items_loss(table, solution)
    return losses_together(table.policy, attributes, groups, table.records, suppressed, lost / items if items else None)


def loss_of(table: Table, solution: Solution) -> float:
    """Return what a solution loses by the policy's measure, the smaller the better."""
    return measure_solution(table, solution).of(table.policy.loss)


def loses_less(one: Losses, other: Losses, policy: Policy) -> bool:
    """Tell whether a release loses less than another by the policy's measure: of equals, the first found stays."""
    return one.of(policy.loss) < other.of(policy.loss)


def least_lossy(table: Table, solutions: Iterable[Solution]) -> Solution:
    """Return the solution that loses least by the policy's measure, the first of equals."""
    return min(solutions, key=lambda solution: loss_of(table, solution))


def measure_written(table: Table, solution: Solution) -> Losses:
    """Return all losses of a solution as it is written: moving bounds after the search may cost what it gained."""
    return measure_solution(table, as_written(table, solution) if asks_for_midpoints(table) else solution)


def released_loss(table: Table, solution: Solution) -> float:
    """Return what a solution loses by the policy's measure as it is written."""
    return measure_written(table, solution).of(table.policy.loss)


def losses_together(
    policy: Policy,
    attributes: dict[str, AttributeLoss],
    groups: GroupSizes,
    records: int,
    suppressed: int,
    sa_ncp: float | None,
) -> Losses:
    """Return all losses of a release of so many records, by what its attributes lose and how large its groups are."""
    weights = [float(policy.attributes[name].weight) for name in attributes]
    total = sum(weights)

    def mean(field: str) -> float:
        if not attributes:  # plain sets of items: no cell can lose anything but by suppression
            lost = suppressed / records if records else 0.0
            return 1 - lost if field == "precision" else lost
        values = (getattr(loss, field) for loss in attributes.values())
        return float(sum(w * value for w, value in zip(weights, values, strict=True)) / total)

    return Losses(
        precision=mean("precision"),
        il=sum(loss.il_per_cell for loss in attributes.values()) * records,
        il_per_cell=mean("il_per_cell"),
        ncp=mean("ncp"),
        sa_ncp=sa_ncp,
        discernibility=groups.squares + groups.outside * records,
        average_group=groups.records / groups.number / largest_k(policy) if groups.number else 0.0,
        attributes=attributes,
    )
