"""Fingerprints that lose less: groups of people who show the same set are taken apart and put together anew.

Partition goes from the roots down and never looks back. From what it leaves, a neighbourhood search goes on as
`least-loss` does for quasi-identifiers: groups that are near each other are pooled, merged again from single people,
and kept where their items lose no more. Every group keeps at least k people. Our own; see docs/least-loss-research.md.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from kveil.algorithms.people.item_sets import Bucketing, bucketings, joined_sets, lay_items
from kveil.algorithms.people.person_order import canonical_fingerprints
from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.items.layout import LaidSets
from kveil.kernels.items.partition import group_sets
from kveil.kernels.items.search import search_sets
from kveil.kernels.items.search_layout import ItemTree
from kveil.kernels.threads import threads
from kveil.models.fingerprints import run_starts
from kveil.stopping import Stop
from kveil.table.table import Table

ROUNDS = 8  # each with prices and blocks of its own
LEAST_TRIES = 400  # of a whole search: small tables take no time
BLOCK = 32_768  # people who are searched at a time, about
HASHES = 3  # by which groups are sorted into blocks
HALF, PRICE_UNIT = 512, 1024  # prices of a round lie between a half and one and a half of the true cost


@dataclass(frozen=True)
class SearchedItems:
    """What a search found: the shown nodes of every generalized attribute's pairs, and how many tries were made."""

    items: dict[str, Ints]
    tries: int
    kept: int


def search_items(
    table: Table, items: dict[str, Ints], kept: Bools, tries_per_person: float, seed: int, stop: Stop
) -> SearchedItems:
    """Return items that lose no more, so that k of the kept people share every fingerprint as they do in ``items``.

    Items of people who are not kept stay as they are. It can stop at any time.
    """
    found = SearchedItems(dict(items), 0, 0)
    for bucketing in bucketings(table.policy):
        state = _state_of(table, bucketing, items, kept)
        if state is None:
            continue
        random = np.random.default_rng([seed, bucketing.k])
        tries = max(int(tries_per_person * len(state.label)), LEAST_TRIES)
        for round_ in range(ROUNDS):
            share = tries * (round_ + 1) // ROUNDS - tries * round_ // ROUNDS
            if stop.over() or share == 0:
                break
            state, made, gained = _search_round(state, share, random, stop)
            found = replace(found, tries=found.tries + made, kept=found.kept + gained)
        found.items.update(state.apart(table, bucketing, items))
    return found


@dataclass(frozen=True)
class _PeopleSets:
    """The kept people's items, joined over the attributes of a bucketing, with their groups and what each item shows.

    ``pair`` is the place of each item among the table's pairs, attribute after attribute. People are in canonical
    order, so that the order of the input does not matter.
    """

    tree: ItemTree
    k: int
    sets: LaidSets  # leaves as nodes
    pair: Longs
    label: Ints
    shown: Ints

    def apart(self, table: Table, bucketing: Bucketing, items: dict[str, Ints]) -> dict[str, Ints]:
        """Return the shown nodes by attribute; those of people who take no part as they were."""
        found, begin, base = {}, 0, 0
        for name in bucketing.names:
            tree = table.sensitive[name].tree
            assert tree is not None
            end = begin + len(table.sensitive[name].row)
            own = (self.pair >= begin) & (self.pair < end)
            column = items[name].copy()
            column[self.pair[own] - begin] = self.shown[own] - base
            found[name] = column
            begin, base = end, base + len(tree.labels)
        return found


def _state_of(table: Table, bucketing: Bucketing, items: dict[str, Ints], kept: Bools) -> _PeopleSets | None:
    """Return the sets to begin with, None where nothing can be gained or somebody's fingerprint is not shared."""
    trees = [tree for name in bucketing.names if (tree := table.sensitive[name].tree) is not None]
    rows, leaves = joined_sets(table, bucketing.names)
    bases = [0, *accumulate(len(tree.labels) for tree in trees)]
    shown = np.concatenate([items[name] + base for name, base in zip(bucketing.names, bases, strict=False)])
    taking = np.flatnonzero(kept[rows])
    order = canonical_fingerprints(table)
    place = np.zeros(table.rows, dtype=np.int64)
    place[order[kept[order]]] = np.arange(int(kept.sum()))
    person = place[rows[taking]]
    by_person = np.argsort(person * (int(leaves.max(initial=0)) + 1) + leaves[taking], kind="stable")
    by_row = taking[by_person]
    start = run_starts(person[by_person].astype(np.int32), int(kept.sum()))
    leaf_nodes = np.concatenate([tree.leaf_nodes + base for tree, base in zip(trees, bases, strict=False)])
    forest = lay_items(trees, len(rows))
    parent = np.concatenate([np.append(-1, tree.parent[1:] + base) for tree, base in zip(trees, bases, strict=False)])
    laid = ItemTree(
        forest.first,
        np.concatenate([tree.depth for tree in trees]).astype(np.int32),
        parent.astype(np.int32),
        forest.way_start,
        forest.way,
        np.array([forest.cost, forest.cost]),
    )
    sets = LaidSets(start, leaf_nodes[leaves[by_row]].astype(np.int32))
    state = _PeopleSets(laid, bucketing.k, sets, by_row, np.zeros(0, dtype=np.int32), shown[by_row].astype(np.int32))
    label = _groups(state)
    if len(label) == 0 or int(np.bincount(label).min()) < bucketing.k or not forest.cost[state.shown].any():
        return None
    return replace(state, label=label)


def _groups(state: _PeopleSets) -> Ints:
    """Return the group of everyone who shows the same set."""
    width = len(state.tree.parent)
    owner = np.repeat(np.arange(len(state.sets.start) - 1), np.diff(state.sets.start))
    owner, node = np.divmod(np.unique(owner * width + state.shown), width)
    return group_sets(run_starts(owner.astype(np.int32), len(state.sets.start) - 1), node.astype(np.int32))[0]


def _search_round(
    state: _PeopleSets, tries: int, random: np.random.Generator, stop: Stop
) -> tuple[_PeopleSets, int, int]:
    """Search every block with new prices; return what everyone shows then, and how many tries were made and gained."""
    true = state.tree.cost[0]
    prices = true * random.integers(HALF, HALF + PRICE_UNIT, len(true)) // PRICE_UNIT
    tree = state.tree._replace(cost=np.array([true, prices]))
    blocks = _blocks(state, random)
    seeds = random.integers(0, 2**63, len(blocks))
    shown, sets = state.shown.copy(), state.sets

    def work(number: int) -> tuple[int, int]:
        own = blocks[number]
        length = np.diff(sets.start)[own]
        begin = np.cumsum(length) - length
        item = np.repeat(sets.start[own] - begin, length) + np.arange(int(length.sum()))
        laid = LaidSets(np.append(begin, begin[-1] + length[-1]), sets.leaf[item])
        _, label = np.unique(state.label[own], return_inverse=True)
        share = tries * len(own) // len(state.label)
        asked = state.k, share, int(seeds[number]), stop.flag
        found = search_sets(tree, laid, label.reshape(-1).astype(np.int32), state.shown[item], *asked)
        group = np.repeat(found.label, length)
        keys = np.repeat(np.arange(len(found.start) - 1), np.diff(found.start)) * len(true) + found.node
        shown[item] = _lowest(tree, laid.leaf, group, keys)
        return found.tries, found.kept

    with ThreadPoolExecutor(threads()) as pool:
        done = list(pool.map(work, range(len(blocks))))
    state = replace(state, shown=shown)
    return replace(state, label=_groups(state)), sum(made for made, _ in done), sum(gained for _, gained in done)


def _lowest(tree: ItemTree, leaf: Ints, group: Longs, keys: Longs) -> Ints:
    """Return the lowest node of its group's set above each item; ``keys`` are group · nodes + node, sorted."""
    node = leaf.astype(np.int64)
    waiting = np.arange(len(node))
    while len(waiting):
        wanted = group[waiting] * len(tree.parent) + node[waiting]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        waiting = waiting[keys[place] != wanted]
        node[waiting] = tree.parent[node[waiting]]
    return node.astype(np.int32)


def _blocks(state: _PeopleSets, random: np.random.Generator) -> list[Longs]:
    """Return people in blocks of whole groups; groups with common items are near each other, by hashes of the round."""
    people = len(state.label)
    number = max(1, round(people / BLOCK))
    if number == 1:
        return [np.arange(people)]
    width = len(state.tree.parent)
    owner = np.repeat(state.label, np.diff(state.sets.start))
    group, node = np.divmod(np.unique(owner.astype(np.int64) * width + state.shown), width)
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    hashes = []
    for _ in range(HASHES):
        level = int(random.integers(1, int(state.tree.depth.max(initial=1)) + 1))
        above = node.copy()
        while (deeper := state.tree.depth[above] > level).any():
            above = np.where(deeper, state.tree.parent[above], above)
        hashes.append(np.minimum.reduceat(random.permutation(width)[above], first))
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.lexsort(tuple(reversed(hashes)))] = np.arange(len(first))
    size = np.bincount(state.label)
    ends = np.cumsum(size[np.argsort(rank)])
    block = np.minimum((ends - 1) * number // people, number - 1)[rank]
    return [np.flatnonzero(block[state.label] == b) for b in range(number) if (block == b).any()]
