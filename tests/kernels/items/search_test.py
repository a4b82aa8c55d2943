"""Groups of people with common sets of items: a search beside its slow twin, and never worse after it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.items import search_layout as field
from kveil.kernels.items import search_loops as loops
from kveil.kernels.items.layout import LaidSets
from kveil.kernels.items.search import FoundGroups, begin_search, search_sets
from kveil.kernels.items.search_layout import ItemTree, NodeSets, SetSearch, set_rows
from laid_forests import laid_tree, some_items
from naive.joined_sets import Weighted, can_show, cost_of
from naive.set_search import ItemGroup, SetTries
from naive.trees import ListTree, random_tree

SEEDS = range(60)
GOING = np.zeros(1, dtype=np.bool_)
list_near = from_python(loops.list_near)
take_apart = from_python(loops.take_apart)
put_together = from_python(loops.put_together)
move_best = from_python(loops.move_best)
keep = from_python(loops.keep)


@dataclass
class BothSetSearches:
    """One search, laid out for the loops and as its slow twin, at the same point."""

    tree: ItemTree
    sets: NodeSets
    state: SetSearch
    twin: SetTries

    def shown(self, row: int) -> Weighted:
        begin = int(self.sets.start[row])
        end = begin + int(self.sets.length[row])
        return dict(zip(self.sets.node[begin:end].tolist(), self.sets.weight[begin:end].tolist(), strict=True))

    def check_groups(self) -> None:
        """Compare who is in which group, in which order, what each shows and costs, and what is drawn next."""
        used = int(self.state.counts.used[0])
        assert used == len(self.twin.groups)
        for g, own in enumerate(self.twin.groups):
            assert self.state.groups.size[g] == len(own.members)
            assert self.state.groups.cost[g] == own.cost
            if own.members:
                assert self.shown(len(self.twin.people) + g) == own.shown
                assert self.listed(self.state.groups.head[g], self.state.people.after) == own.members
                assert set(self.state.people.group[own.members].tolist()) == {g}
        assert self.state.random[0] == self.twin.random[0]

    def listed(self, first: int, after: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
        found = []
        while first >= 0:
            found.append(int(first))
            first = after[first]
        return found

    def units(self, number: int, *, closed: bool) -> list[ItemGroup]:
        """Return the pool's units, or those of them that are groups."""
        pool = self.state.pool
        row = set_rows(len(self.twin.people), self.twin.room)[1]
        return [
            ItemGroup(
                pool.who[self.listed(pool.first[u], pool.after)].tolist(),
                self.shown(row + u),
                int(pool.true_cost[u]) if closed else 0,
            )
            for u in range(number)
            if not closed or pool.kind[u] == field.CLOSED
        ]


def laid_people(people: list[list[int]]) -> LaidSets:
    start = np.cumsum([0, *map(len, people)]).astype(np.int64)
    return LaidSets(start, np.array([item for own in people for item in own], dtype=np.int32))


def both_set_searches(seed: int, *, fewest: int = 0, k: int = 0) -> BothSetSearches:
    """Return people in groups of k or more; each group shows what its people can show together, or the root."""
    chance = Random(seed)
    tree = random_tree(chance, 4)
    costs = [round(1000 * tree.share(node)) for node in range(tree.nodes)]
    prices = [cost * chance.randrange(512, 1536) // 1024 for cost in costs]
    k = k or chance.randint(1, 4)
    people = [some_items(chance, tree) for _ in range(max(chance.randint(2 * k, 40), fewest))]
    groups = chance.randint(len(people) // k // 2, len(people) // k)
    label = [chance.randrange(groups) if p >= k * groups else p // k for p in range(len(people))]
    chance.shuffle(label)
    tries = SetTries.start(tree, costs, prices, people, people, label, k, seed)
    shown: list[list[int]] = [[] for _ in people]
    for own in tries.groups:
        together = tries.in_turn(own.members) if chance.random() < 0.7 else {0: 1}
        for p in own.members:
            shown[p] = [next(node for node in tree.way(item) if node in together) for item in people[p]]
    tree_laid = laid_tree(tree, costs, prices)
    nodes = np.array([node for own in shown for node in own], dtype=np.int32)
    sets, state = begin_search(tree_laid, laid_people(people), np.array(label, dtype=np.int32), nodes, k, seed)
    return BothSetSearches(
        tree_laid, sets, state, SetTries.start(tree, costs, prices, people, shown, label, k, seed)
    )  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_a_try_lists_takes_apart_puts_together_moves_and_keeps_as_by_hand(seed: int) -> None:
    both = both_set_searches(seed)
    both.check_groups()
    twin, laid = both.twin, (both.tree, both.sets, both.state)
    near = list_near(*laid)
    listed = twin.list_near()
    assert both.state.near[:near].tolist() == listed
    taken, number, cost = take_apart(*laid, near)
    groups, units, before = twin.take_apart(listed)
    assert both.state.pool.taken[:taken].tolist() == groups
    assert (number, cost) == (len(units), before)
    assert both.units(number, closed=False) == units
    made = twin.put_together(units)
    assert put_together(*laid, number) == bool(made)
    assert both.units(number, closed=True) == made
    closed = [u for u in range(number) if both.state.pool.kind[u] == field.CLOSED]
    for u, own in zip(closed, made, strict=True):
        if len(own.members) > twin.k:
            assert move_best(*laid, number, u) == twin.move_best(made, own)
            assert both.units(number, closed=True) == made
    keep(both.sets, both.state, taken, number)
    twin.keep(groups, made)
    both.check_groups()


@pytest.mark.parametrize("seed", range(3))
def test_near_groups_of_many_are_found_below_a_node_of_the_seed(seed: int) -> None:
    both = both_set_searches(seed, fewest=900, k=1)
    for _ in range(3):
        near = list_near(both.tree, both.sets, both.state)
        assert both.state.near[:near].tolist() == both.twin.list_near()
        assert both.state.random[0] == both.twin.random[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_search_makes_the_groups_that_the_slow_twin_makes(seed: int) -> None:
    both = both_set_searches(seed)
    for tries in (1, 5, 12):
        loops.search_sets(both.tree, both.sets, both.state, tries, GOING)
        both.twin.search(tries)
        both.check_groups()
        assert (both.state.counts.tries[0], both.state.counts.kept[0]) == (both.twin.tries, both.twin.kept)


def test_a_search_that_is_stopped_makes_no_try() -> None:
    both = both_set_searches(1)
    loops.search_sets(both.tree, both.sets, both.state, 10, np.ones(1, dtype=np.bool_))
    assert both.state.counts.tries[0] == 0
    both.check_groups()


def searched(tree: ListTree, costs: list[int], people: list[list[int]], k: int, tries: int) -> FoundGroups:
    """Search from one group of all people, who show the root."""
    laid = laid_people(people)
    half = np.arange(len(people), dtype=np.int32) * 2 // len(people)
    shown = np.zeros(len(laid.leaf), dtype=np.int32)
    return search_sets(laid_tree(tree, costs), laid, half, shown, k, tries, 7, GOING)


@pytest.mark.parametrize("seed", range(20))
def test_a_search_keeps_groups_of_k_whose_members_show_one_set_and_loses_no_more(seed: int) -> None:
    chance = Random(seed)
    tree = random_tree(chance)
    costs = [round(1000 * tree.share(node)) for node in range(tree.nodes)]
    k = chance.randint(2, 4)
    people = [some_items(chance, tree) for _ in range(chance.randint(2 * k, 40))]
    before = sum(costs[0] * len(own) for own in people)
    after = [before]
    for tries in (0, 5, 60):
        found = searched(tree, costs, people, k, tries)
        sets = [set(found.node[a:b].tolist()) for a, b in zip(found.start, found.start[1:], strict=False)]
        assert min(np.bincount(found.label)[np.unique(found.label)]) >= k
        assert all(can_show(tree, own, sets[g]) for own, g in zip(people, found.label.tolist(), strict=True))
        total = sum(cost_of(tree, costs, own, sets[g]) for own, g in zip(people, found.label.tolist(), strict=True))
        assert total <= after[-1]
        after.append(total)
    again = searched(tree, costs, people, k, 60)
    assert again.label.tolist() == found.label.tolist()


def test_a_search_finds_the_people_who_are_alike() -> None:
    tree = ListTree(
        [0, 0, 1, 1, 0, 4, 4], [0, 0, 0, 1, 2, 2, 3], [3, 1, 0, 1, 3, 2, 3], [0, 1, 2, 2, 1, 2, 2], [2, 3, 5, 6]
    )
    costs = [100, 50, 0, 0, 50, 0, 0]
    people = [[2, 5], [3, 6], [2, 5], [3, 6], [2, 5], [3, 6]]
    found = searched(tree, costs, people, 3, 40)
    assert found.kept > 0
    assert len(set(found.label[::2].tolist())) == len(set(found.label[1::2].tolist())) == 1
    sets = {tuple(found.node[a:b].tolist()) for a, b in zip(found.start, found.start[1:], strict=False) if b > a}
    assert sets == {(2, 5), (3, 6)}
