"""What covers the values of a group: the lowest node above them, or the span from the smallest to the largest."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.policy.numbers import EXACT, parse_span, show_span
from kveil.table.scale import Scale, round_outward
from kveil.table.solution import Shown
from kveil.table.tree import Tree


class Joinable(Protocol):
    """What an attribute may show, as codes; ``star`` is the code of a suppressed cell."""

    star: int

    def is_star(self, codes: Ints) -> Bools:
        """Tell which codes show `*`."""
        ...

    def join(self, codes: Ints, group: Ints, groups: int) -> Ints:
        """Return for every group the lowest value that covers all its codes."""
        ...

    def together(self, codes: Ints, group: Ints, groups: int, weights: Longs) -> Bools:
        """Tell which codes of a group may be joined inside their boundaries: all, or the heaviest that fit."""
        ...

    def shown(self, codes: Ints) -> Shown:
        """Return codes as they are released."""
        ...


class JoinableNodes:
    """The nodes of a tree; a suppressed cell has the root's code, or one of its own where the root is not `*`."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.star = 0 if tree.is_star[0] else len(tree.labels)

    def is_star(self, codes: Ints) -> Bools:
        return np.asarray(codes == self.star)

    def join(self, codes: Ints, group: Ints, groups: int) -> Ints:
        return self.tree.covers(codes, group, groups)

    def together(self, codes: Ints, group: Ints, groups: int, weights: Longs) -> Bools:
        return heaviest(self.tree.limit_of_node[codes], group, groups, weights)

    def shown(self, codes: Ints) -> Shown:
        return Shown.nodes(self.tree, np.where(codes < len(self.tree.labels), codes, 0).astype(np.int32))


class JoinableSpans:
    """Spans of numbers; bounds are kept as they are shown, after rounding."""

    def __init__(self, scale: Scale, shown: Shown, widest: Decimal | None) -> None:
        self.scale = scale
        self.widest = widest
        self.texts = list(shown.labels)
        self.losses = shown.ncp.tolist()
        self.number_of = {text: code for code, text in enumerate(self.texts)}
        self.star = self._code("*", 1.0)

    def _code(self, text: str, loss: float) -> int:
        if text not in self.number_of:
            self.number_of[text] = len(self.texts)
            self.texts.append(text)
            self.losses.append(loss)
        return self.number_of[text]

    def _span(self, code: int) -> tuple[Decimal, Decimal] | None:
        text = self.texts[code]
        return None if text == self.scale.missing_text else parse_span(text)

    def is_star(self, codes: Ints) -> Bools:
        return np.asarray(codes == self.star)

    def _union(self, codes: list[int]) -> tuple[Decimal, Decimal] | None:
        spans = [self._span(code) for code in codes]
        known = [span for span in spans if span is not None]
        if len(known) < len(spans):
            return None
        low, high = min(span[0] for span in known), max(span[1] for span in known)
        return (low, high) if low == high else round_outward(low, high, self.scale.spec)

    def join(self, codes: Ints, group: Ints, groups: int) -> Ints:
        found = np.empty(groups, dtype=np.int32)
        known: dict[tuple[int, ...], int] = {}
        order = np.lexsort((codes, group))
        ends = np.searchsorted(group[order], np.arange(groups + 1))
        for g in range(groups):
            mine = tuple(codes[order[ends[g] : ends[g + 1]]].tolist())
            if mine not in known:
                known[mine] = self._join(list(mine))
            found[g] = known[mine]
        return found

    def _join(self, codes: list[int]) -> int:
        if len(codes) == 1:
            return codes[0]
        union = self._union(codes)
        if union is None:
            return self.star
        return self._code(show_span(*union), 0.0 if union[0] == union[1] else self.scale.loss(*union))

    def _fits(self, codes: list[int]) -> bool:
        if self.widest is None or len(codes) == 1:
            return True
        union = self._union(codes)
        return union is not None and EXACT.subtract(union[1], union[0]) <= self.widest

    def together(self, codes: Ints, group: Ints, groups: int, weights: Longs) -> Bools:
        fine = np.ones(len(codes), dtype=bool)
        if self.widest is None:
            return fine
        order = np.lexsort((codes, group))
        ends = np.searchsorted(group[order], np.arange(groups + 1))
        for g in range(groups):
            mine = order[ends[g] : ends[g + 1]]
            if self._fits(codes[mine].tolist()):
                continue
            fine[mine] = False
            kept: list[int] = []
            for at in mine[np.lexsort((codes[mine], -weights[mine]))].tolist():
                if self._fits([*kept, int(codes[at])]):
                    kept.append(int(codes[at]))
                    fine[at] = True
        return fine

    def shown(self, codes: Ints) -> Shown:
        cost = np.array(self.losses)
        star = np.array([text == "*" for text in self.texts], dtype=bool)
        return Shown(codes, tuple(self.texts), cost, cost, star)


def heaviest(kind: Ints, group: Ints, groups: int, weights: Longs) -> Bools:
    """Tell which entries are of the kind that weighs most in their group; of equals, the lowest kind."""
    key, first = group_rows(np.array([group, kind]))
    if len(np.unique(group[first])) == len(first):
        return np.ones(len(kind), dtype=bool)
    weight = np.bincount(key, weights=weights, minlength=len(first))
    order = np.lexsort((kind[first], -weight, group[first]))
    best = np.full(groups, -1, dtype=np.int64)
    best[group[first][order][::-1]] = order[::-1]  # the first of a group is written last
    return np.asarray(best[group] == key)
