"""What the bound's loops walk over: tuples with all that may cover them, and the nodes that are kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Bools, Ints, Longs

UNPAYABLE = 1 << 40  # what a level costs that no tuple may show
NARROWED = 12  # the lowest price of a best set is sought to so many bits of a node's cost
SHARED = 3  # the attribute whose nodes several walks share
IN_A_ROW = 128  # kept nodes that one of several threads takes in a row

TURN, TUPLES, ROWS, NEAR, USES = range(5)  # what `state` of a growth counts


class CoverLattice(NamedTuple):
    """Distinct tuples and all that may cover them: node ``above[at[a] + d, t]`` of attribute a at depth d.

    -1 where a tuple has no node at that depth, or may not show it. ``cost`` is what the node costs per row, ``weight``
    how many rows have the tuple, ``first`` one of them. Attribute a has the depths from ``at[a]`` to ``at[a + 1]``. A
    node counts only if no other one, at most ``ahead`` depths below it, covers all of its payers, too.
    """

    at: Longs
    above: Ints
    cost: Longs
    weight: Longs
    first: Ints
    ahead: int


class NodeWalk(NamedTuple):
    """Where a walk over the nodes stands, attribute by attribute, and room for parting tuples by their nodes.

    ``level`` is the row of ``above`` that each attribute is at. The tuples that are left once a attributes have their
    nodes lie in row a of ``members``, all of one node together: those of attribute a's node g, of ``groups[a]``, from
    ``start[a, g]`` on in row a + 1. ``at`` is the node where the walk stands, ``cost`` what the nodes so far cost.
    ``place`` numbers the nodes of one parting, -1 for those not seen; ``node``, ``tuples``, ``rows`` and ``most`` have
    for each of them which it is, how many tuples and rows it has, and the most that one of them, or a set, would pay
    above it; ``dear`` what it costs, ``least`` the lowest price in its best set. ``cheap`` is the least that a node of
    each row of ``above`` costs. Of several walks that share the nodes of attribute SHARED, this one goes under every
    ``turn[1]``-th, beginning with number ``turn[0]``; ``turn[2]`` counts them. It ends where ``halt`` is raised.
    """

    level: Longs
    members: Ints
    start: Ints
    groups: Longs
    at: Longs
    cost: Longs
    place: Ints
    node: Ints
    tuples: Ints
    rows: Longs
    most: Longs
    dear: Longs
    least: Longs
    cheap: Longs
    turn: Longs
    halt: Bools


def new_walk(lattice: CoverLattice, halt: Bools, number_of_walk: int = 0, walks: int = 1) -> NodeWalk:
    """Return a walk that has not begun: all tuples, at no cost; one of several that share the nodes."""
    attributes, number = len(lattice.at) - 1, lattice.above.shape[1]
    nodes = int(lattice.above.max(initial=0)) + 1
    members = np.zeros((attributes + 1, number), dtype=np.int32)
    members[0] = np.arange(number)
    several = min(nodes, number)
    return NodeWalk(
        np.zeros(attributes, dtype=np.int64),
        members,
        np.zeros((attributes, several + 1), dtype=np.int32),
        np.zeros(attributes, dtype=np.int64),
        np.zeros(attributes, dtype=np.int64),
        np.zeros(attributes + 1, dtype=np.int64),
        np.full(nodes, -1, dtype=np.int32),
        np.zeros(several, dtype=np.int32),
        np.zeros(several, dtype=np.int32),
        np.zeros(several, dtype=np.int64),
        np.zeros(several, dtype=np.int64),
        np.zeros(several, dtype=np.int64),
        np.zeros(several, dtype=np.int64),
        np.where(lattice.above >= 0, lattice.cost, UNPAYABLE).min(axis=1, initial=UNPAYABLE),
        np.array([number_of_walk, walks, -1], dtype=np.int64),
        halt,
    )


def new_fill_room(k: int) -> Longs:
    """Return room for the prices and the rows of tuples that fill up a set to k rows: each has one or more."""
    return np.empty((2, k + 1), dtype=np.int64)


class KeptNodes(NamedTuple):
    """Nodes that are kept, with the tuples they cover: node i has ``member[start[i] : start[i + 1]]``.

    ``turn`` is the shared node that each lies under, by which those of several walks are put in one order. ``rows`` is
    how many rows each covers, those of tuples that it is kept without among them. ``whole`` tells whether there was
    room for all of them.
    """

    number: int
    start: Longs
    member: Ints
    cost: Longs
    turn: Longs
    rows: Longs
    whole: bool


class Cuts(NamedTuple):
    """Sets of tuples, and how many groups can lie inside of each: as often as k rows fit into its rows, ``most``.

    Set c has the tuples ``member[start[c] : start[c + 1]]``.
    """

    start: Longs
    member: Ints
    most: Longs


class Insides(NamedTuple):
    """The cuts that each kept node lies inside of: node i of ``cut[start[i] : start[i + 1]]``."""

    start: Longs
    cut: Ints


class Tolls(NamedTuple):
    """What kept nodes pay for lying inside of cuts, and what is found while they are summed over.

    ``opened`` is how many nodes that pay lie inside of each cut. ``due`` tells of every node how far prices must rise,
    all rises since the first sum added up, before it can pay: until then it is passed over. ``often`` is in how many
    sums each node has paid.
    """

    insides: Insides
    toll: Longs
    opened: Longs
    due: Longs
    often: Longs


class Growth(NamedTuple):
    """A set of tuples that grows by the tuples of nodes, node i having ``member[start[i] : start[i + 1]]``.

    ``rows`` and ``often`` tell of every node how many rows it covers and how often it was used. Of the nodes that take
    part, those over tuple t are ``over[first[t] : first[t + 1]]``. ``state`` counts: the sets so far, this one being
    the last of them, its tuples and rows, the nodes that have tuples of it, and how often those inside of it were used.
    ``inside`` and ``met`` have the number of the last set that had a tuple, or a tuple of a node, and ``missing`` how
    many rows of such a node are not in it; ``near`` lists these nodes, ``grown`` the tuples of all sets that were kept.
    """

    start: Longs
    member: Ints
    rows: Longs
    often: Longs
    first: Longs
    over: Ints
    inside: Longs
    met: Longs
    missing: Longs
    near: Ints
    grown: Ints
    state: Longs


def chosen_sets(start: Longs, member: Ints, sets: Longs) -> tuple[Longs, Ints]:
    """Return some of the sets that lie end to end."""
    sizes = start[sets + 1] - start[sets]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return begins, member[np.arange(begins[-1]) - np.repeat(begins[:-1] - start[sets], sizes)]
