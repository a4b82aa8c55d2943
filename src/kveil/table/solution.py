"""What an algorithm found: the shown node of every record and attribute, and who is suppressed where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.free_form import Details
from kveil.kernels.grouping.equal_rows import add_up
from kveil.policy.attributes import STAR
from kveil.table.scale import Scale
from kveil.table.tree import Tree


@dataclass(frozen=True)
class Shown:
    """One attribute as released: a code per record, and per code a text and its losses.

    For trees the codes are nodes; for `ranges` they number the different spans.
    """

    codes: Ints
    labels: tuple[str, ...]
    ncp: Floats
    il: Floats
    is_star: Bools

    @classmethod
    def nodes(cls, tree: Tree, codes: Ints) -> Shown:
        """Show the nodes of a tree."""
        return cls(codes, tree.labels, tree.ncp, tree.il, tree.is_star)

    @classmethod
    def spans(cls, scale: Scale, low: Ints, high: Ints) -> Shown:
        """Show spans of a scale, given by the leaves of their bounds; equal texts get equal codes."""
        keys, codes = np.unique(low.astype(np.int64) * scale.leaves + high, return_inverse=True)
        number_of: dict[str, int] = {}
        losses: list[float] = []
        renumber = np.empty(len(keys), dtype=np.int32)
        for position, key in enumerate(keys.tolist()):
            text, loss = scale.shown(*divmod(key, scale.leaves))
            if text not in number_of:
                number_of[text] = len(number_of)
                losses.append(loss)
            renumber[position] = number_of[text]
        cost = np.array(losses)
        return cls(
            renumber[codes.reshape(-1)],
            tuple(number_of),
            cost,
            cost,
            np.array([text == "*" for text in number_of], dtype=bool),
        )

    @classmethod
    def covering(cls, tree: Tree | Scale, low: Ints, high: Ints, part: Ints) -> Shown:
        """Show for every record what covers the leaves of its part, low to high; -1 is in none and shows anything."""
        if not len(low):
            low = high = np.zeros(1, dtype=np.int32)
        at = np.maximum(part, 0)
        if isinstance(tree, Tree):
            return cls.nodes(tree, tree.lca(low, high)[at])
        spans = cls.spans(tree, low, high)
        return cls(spans.codes[at], spans.labels, spans.ncp, spans.il, spans.is_star)

    def relabelled(self, labels: Sequence[str], ncp: Floats, il: Floats) -> Shown:
        """Show other texts with other losses; codes that have the same text become one, the last of them."""
        last = {label: code for code, label in enumerate(labels)}
        renumber = np.array([last[label] for label in labels], dtype=np.int32)
        return replace(self, codes=renumber[self.codes], labels=tuple(labels), ncp=ncp, il=il)

    @classmethod
    def joined(cls, columns: Sequence[Shown], rows: Sequence[Ints | Longs], number: int) -> Shown:
        """Show columns that each have some of so many rows as one; equal texts get one code.

        A row that several columns have shows what the last of them does, a row that none has shows anything.
        """
        first = columns[0]
        codes = np.zeros(number, dtype=np.int32)
        if all(column.labels == first.labels for column in columns):
            for own, column in zip(rows, columns, strict=True):
                codes[own] = column.codes
            return replace(first, codes=codes)
        number_of: dict[str, int] = {}
        losses: list[tuple[float, float, bool]] = []
        for own, column in zip(rows, columns, strict=True):
            place = np.empty(len(column.labels), dtype=np.int32)
            for code, label in enumerate(column.labels):
                place[code] = number_of.setdefault(label, len(number_of))
                if place[code] == len(losses):
                    losses.append((float(column.ncp[code]), float(column.il[code]), bool(column.is_star[code])))
            codes[own] = place[column.codes]
        ncp, il, is_star = zip(*losses, strict=True)
        return cls(codes, tuple(number_of), np.array(ncp), np.array(il), np.array(is_star))

    def starred(self, rows: Bools) -> Shown:
        """Show `*` in some rows, and the others as before."""
        stars = np.flatnonzero(self.is_star)
        if len(stars):
            return replace(self, codes=np.where(rows, stars[0], self.codes).astype(np.int32))
        return Shown(
            np.where(rows, len(self.labels), self.codes).astype(np.int32),
            (*self.labels, STAR),
            np.append(self.ncp, 1.0),
            np.append(self.il, 1.0),
            np.append(self.is_star, True),
        )


@dataclass(frozen=True)
class Classes:
    """Records taken together: every record's class, one record of each, and how many each has.

    Records of one class show the same and are suppressed alike; two classes may show the same.
    """

    of_record: Ints
    first: Ints | slice
    sizes: NDArray[np.int64]

    def weighed(self, times: NDArray[np.int64]) -> Classes:
        """Return the same classes with the records that their rows stand for, instead of rows."""
        return replace(self, sizes=add_up(self.of_record, times, len(self.sizes)))

    def tally(self, codes: Ints, number: int, left_out: Bools) -> NDArray[np.int64]:
        """Count the records by the code their class has, except those of classes left out."""
        sizes = np.where(left_out, 0, self.sizes) if left_out.any() else self.sizes
        return add_up(codes, sizes, number)


@dataclass(frozen=True)
class Solution:
    """The shown value of every record and attribute, and the records suppressed in each component.

    ``suppressed`` has a row per component and a column per record. ``items`` has, for every sensitive attribute whose
    items are generalized, the shown node of each pair of a row and a value, in the order of the table's pairs; a
    code past the tree's nodes is shown nowhere. ``reasons`` maps a reason to the records it holds for; ``details``
    goes into the receipt (rounds, levels). ``alike``, where an algorithm knows it, numbers classes of records that
    show the same quasi-identifiers and are suppressed alike, so that what follows need not look at each. It is
    ``plain`` where rows show the greedy clusters of all rows, none of which would have shown nothing but stars.
    """

    shown: tuple[Shown, ...]
    suppressed: Bools
    reasons: Mapping[str, Ints] = field(default_factory=dict)
    details: Details = field(default_factory=dict)
    _: KW_ONLY
    items: Mapping[str, Ints] = field(default_factory=dict)
    alike: Ints | None = None
    plain: bool = False

    @cached_property
    def classes(self) -> Classes:
        """The classes an algorithm has told of, else every record by itself."""
        records = self.suppressed.shape[1]
        if self.alike is None:
            return Classes(np.arange(records, dtype=np.int32), slice(None), np.ones(records, dtype=np.int64))
        sizes = np.bincount(self.alike)
        first = np.zeros(len(sizes), dtype=np.int32)
        first[self.alike[::-1]] = np.arange(records - 1, -1, -1, dtype=np.int32)
        used = sizes > 0
        if used.all():
            return Classes(self.alike, first, sizes)
        number = (np.cumsum(used) - 1).astype(np.int32)
        return Classes(number[self.alike], first[used], sizes[used])

    def spread(self, of_row: Ints) -> Solution:
        """Return the solution of a table whose rows are those of this one's table, each as often as it is named."""
        alike = of_row if self.alike is None else self.alike[of_row]
        return Solution(
            shown=tuple(replace(shown, codes=shown.codes[of_row]) for shown in self.shown),
            suppressed=self.suppressed[:, of_row],
            reasons={reason: _rows_of(rows, of_row, self.suppressed.shape[1]) for reason, rows in self.reasons.items()},
            details=self.details,
            alike=alike,
        )

    @property
    def suppressed_anywhere(self) -> Bools:
        """The records suppressed in at least one component."""
        return np.asarray(self.suppressed.any(axis=0))


def _rows_of(tuples: Ints, of_row: Ints, number: int) -> Ints:
    """Return the rows that some tuples stand for."""
    chosen = np.zeros(number, dtype=bool)
    chosen[tuples] = True
    return np.flatnonzero(chosen[of_row]).astype(np.int32)
