"""The tuples that Classfly has not set aside yet."""

from __future__ import annotations

import numpy as np

from kveil.algorithms.classfly.classfly_component import ClassflyComponent, only
from kveil.algorithms.classfly.known_groups import KnownGroups
from kveil.arrays import Bools, Ints
from kveil.kernels.grouping.equal_rows import add_up, group_rows

SAMPLE = 32  # of so many tuples one is looked at, to see whether some are equal
FEW = 1 << 14  # tuples that are merged without such a look
WORTH_MERGING = 8 * SAMPLE  # one in so many of the sample is equal to another where a merge leaves an eighth less


class Rest:
    """The tuples that are left, equal ones taken together; ``member`` gives every left tuple's place among them.

    Merging saves work and changes nothing else, unless sums of costs are compared: then ``always_merged``.
    """

    def __init__(self, part: ClassflyComponent, *, always_merged: bool) -> None:
        self.part = part
        self.always_merged = always_merged
        self.nodes, self.weights, self.pairs = part.leaf_nodes.copy(), part.weights, part.pairs
        self.left = np.ones(self.nodes.shape[1], dtype=bool)
        self.member = np.arange(self.nodes.shape[1], dtype=np.int32)
        self.whole = True  # as long as every tuple is a place of its own
        self.known = KnownGroups()
        self._look()

    def _look(self) -> None:
        """Find the nodes that are shown, per attribute, and the steps there are."""
        self.shown = [np.flatnonzero(np.bincount(column)).astype(np.int32) for column in self.nodes]
        self._choose()

    def _choose(self) -> None:
        trees = self.part.trees
        self.moves = {a: step for a, tree in enumerate(trees) if (step := tree.one_step(self.shown[a])) is not None}
        self.most_shown = max(self.moves, key=lambda a: len(self.shown[a]), default=None)  # ties: the policy's order
        self.known.shown, self.known.next_step = [len(shown) for shown in self.shown], self.most_shown

    def satisfied(self) -> Bools:
        """Return the tuples that may be set aside."""
        return self.part.satisfied(self.nodes, self.weights, self.pairs, known=self.known)

    def set_aside(self, good: Bools, nodes: Ints) -> None:
        """Note in ``nodes`` what some of the tuples show, which are left no longer."""
        if self.whole:
            for column, own in zip(nodes, self.nodes, strict=True):
                np.copyto(column, own, where=good)
            self.left &= ~good
        else:
            done = np.flatnonzero(self.left)[good[self.member[self.left]]]
            nodes[:, done] = np.take(self.nodes, self.member[done], axis=1)
            self.left[done] = False
        chosen = np.flatnonzero(~good)
        renumber = np.full(len(good), -1, dtype=np.int32)
        renumber[chosen] = np.arange(len(chosen), dtype=np.int32)
        self.nodes, self.weights = np.take(self.nodes, chosen, axis=1), self.weights[chosen]
        self.pairs = {name: only(pairs, renumber) for name, pairs in self.pairs.items()}
        self.member[self.left] = renumber[self.member[self.left]]
        self.whole = False
        self.known = KnownGroups()
        self._look()

    def step(self, a: int) -> None:
        """Generalize an attribute by one step, and merge the tuples that show the same since."""
        move = self.moves[a]
        self.nodes[a] = move[self.nodes[a]]
        self.shown[a] = np.unique(move[self.shown[a]])
        self.known.forget(self.part.constraints, a)
        if self.always_merged or self._seem_equal():
            self._merge()
        self._choose()

    def _seem_equal(self) -> bool:
        """Tell whether enough tuples seem to be equal, by some of them."""
        if self.nodes.shape[1] < FEW:
            return True
        group, first = group_rows(self.nodes[:, ::SAMPLE])
        return (len(group) - len(first)) * WORTH_MERGING >= len(group)

    def _merge(self) -> None:
        group, first = group_rows(self.nodes)
        if len(first) == len(group):
            return
        self.nodes = np.take(self.nodes, first, axis=1)
        self.weights = add_up(group, self.weights, len(first))
        self.pairs = {name: pairs.moved(group) for name, pairs in self.pairs.items()}
        self.member[self.left] = group[self.member[self.left]]
        self.whole = False
        self.known.merge(first)
