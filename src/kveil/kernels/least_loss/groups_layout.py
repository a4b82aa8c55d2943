"""Where things stand in the arrays of the search in groups, and the numbers that were tuned for it.

Few arrays with many fields instead of many arrays: every array that a compiled function takes adds to its compile time.
"""

from __future__ import annotations

from typing import NamedTuple

from kveil.arrays import Bools, Floats, Ints, Longs, Words

# How an attribute's codes are joined: by a table of pairs, by climbing a tree, as spans of numbers.
SMALL, LARGE, SPAN = range(3)
# The cost of what may not be shown. It is above the cost of any row, and a million rows of it still fit 64 bits.
FORBIDDEN = 1 << 38

# `Codes.about`, per attribute. KIND; WIDTH: its nodes, or numbers. In ``ints``: PAIR_AT the table of covers, or NODE_AT
# the first and last leaves and parents of its nodes. In ``longs``: LEAF_AT the table of what covers cost, COST_AT the
# costs of its nodes, SPAN_AT the bounds numbers show, downward and upward. WIDEST: the widest span that may be shown,
# -1 for any; MISSING: the rank of missing; WHOLE: what showing nothing costs; STAR: the node that is `*`.
KIND, WIDTH, PAIR_AT, NODE_AT, LEAF_AT, COST_AT, SPAN_AT, WIDEST, MISSING, WHOLE, STAR = range(11)
ABOUT = 11

# `GroupedRows.rows`, per row: its number among distinct rows, zone, group, and its neighbours in the group's list.
SAME, ZONE, GROUP, AFTER, BEFORE = range(5)
# `GroupedRows.groups`: per group its first row and number of rows; then the list of numbers in use, each group's place
# in that list, and the list of free numbers.
HEAD, SIZE, ALIVE, PLACE, FREE = range(5)
# The lists of near groups: those of a row, and those that a pool is made of.
LISTED, CHOSEN = range(2)
# `GroupedRows.counts`: groups in use, free numbers, tries that were kept, tries; what a try that is kept may cost on
# average, 0 for nothing, and what all of them may still cost together.
IN_USE, UNUSED, KEPT, TRIES, HEAT, SPARE = range(6)
COUNTS = 6
MOST_HEAT = 1 << 49  # times the largest slack is still a number of 64 bits
DROPPED = -(1 << 62)  # is what a try gains that is not kept
# The sizes and costs of groups into which rows are placed one by one.
PLACED_SIZE, PLACED_COST = range(2)

# `PoolRoom.ints`. Per row of the pool: the row, the group it is in, another such group on trial, the next row of its
# unit, whether it is alone in its group. Per unit: its first row, its nearest unit, whether it is open. Per group: the
# old group whose core it keeps, -1 for none. Then lists: members of a group, rows to be judged, open units in order,
# the old groups some of whose rows stay together (their units stand in MEMBERS), attributes in which open units differ.
POOL, OF, OTHER, LINK, ALONE, FIRST, NEAR, OPEN, CORE, MEMBERS, ROWS, QUEUE, STAYED, VARIES = range(14)
POOL_INTS = 14
# `PoolRoom.longs`: what a row's group would cost without it; sizes and costs of groups, of groups on trial, of units;
# per attribute its noise and where its costs begin; how near a group is; by how much a group's cost changes when a row
# is swapped for one that adds nothing, SWAPS_NOTHING for a row that is not to be looked at; the noise of attributes in
# which open units differ, then what the others cost; what merging a unit with each open one costs.
LESS, HAS, COSTS, TRY_HAS, TRY_COSTS, UNIT_HAS, UNIT_COSTS, NOISE, OFFSET, SCORE, CHANGE, WEIGHT, SUM = range(13)
POOL_LONGS = 13
SWAPS_NOTHING = 1 << 62

# Tuned on Adult with k of 5 and 10.
MOST_GROUPS = 11  # in a pool; at first FIRST_GROUPS, until so many tries per row were done
FIRST_GROUPS, FIRST_TRIES = 8, 2.0
FIRST_OF_LARGE = 5, 4.0  # in large tables, where a pool of more takes longer than it gains
SEED_DRAWS = 64  # rows that are drawn at most to find one that costs something
SEEDS = 3  # rows that are found so; neighbours are sought of the one whose group costs most
NEAR_GROUPS = 14  # groups near a row that are listed at once
LIST_TRIES = 3  # tries that take their neighbours from one list: listing looks at all groups
WHOLLY_OF, WHOLLY = 2, 1  # in one of two tries all rows of the pool are taken out of their groups, else
ALL_OUT = 1024
LEAST_OUT, OUTS = 256, 513  # a quarter to three quarters (in 1024ths); the others of a group stay together
PASSES = 3  # of moves and swaps over a pool
DROP_ABOVE, DROP_PARTS = 6, 5  # a rebuilt pool that costs more than six fifths of the old one is not worth polishing
NOISE_BITS = 10  # factors are whole numbers of 1024ths
NOISE_FACTORS = 256  # that one is drawn from
# What chance takes from a table: factors of attributes' costs, and what a try may cost in its mean, both in 1024ths.
FACTORS, SLACKS = range(2)
NOISE_SPREAD = 0.3  # of the logarithm of a factor
CENTRE_OF, CENTRE_IS_GROUP = 5, 2  # in two of five tries neighbours are sought around the group, else around the row
LEAST_CREDIT, CREDITS = 614, 411  # a group's own cost counts in its favour, by 0.6 to 1 (in 1024ths)
CHANCE_SHIFT = 54  # leaves ten bits of a word: a chance in 1024ths
CHANCES = 1024
MOST_SKIPPED = 512  # up to half of all groups are passed over, for variety
SKIP_EXACT = 896  # seven of eight groups of equal rows with none to spare are passed over: they have nothing to gain
LARGE_GROUP = 2  # a group above half of the pool's room gives some rows only
MOST_GIVEN = 4  # and at most a quarter of the room
MOST_STORED = 1024  # units whose pairs are kept in a table; those of more are reckoned when they are asked for


class Codes(NamedTuple):
    """What attributes can show: how two codes join, and what each costs per row.

    Codes of a tree are its nodes; a code of a span of numbers is low · width + high, of their ranks, and costs
    ``factor`` times the difference of the bounds it shows.
    """

    about: Longs
    ints: Ints
    longs: Longs
    factor: Floats


class GroupedRows(NamedTuple):
    """Rows in groups, as doubly linked lists; `groups_layout` says what stands where.

    ``base`` is row × attribute, what a row would show alone; equal rows stand together; ``code`` is group ×
    attribute, what it shows; ``cost`` what that costs each of its rows. Rows of different zones are never joined.
    """

    base: Ints
    rows: Ints
    groups: Ints
    code: Ints
    cost: Longs
    counts: Longs
    random: Words


class PoolRoom(NamedTuple):
    """Room for one pool: its rows, the units they are merged into, the groups they become.

    ``without`` is what a row's group would show without it; ``code``, ``trial`` and ``unit`` what groups, groups on
    trial and units show; ``run`` what covers the members from one on; ``narrow`` what units show in the attributes in
    which they differ. ``pairs`` is what merging two units costs, unit by unit, ``value`` with the nearest, ``grown``
    what merging one unit with each open one does.
    """

    ints: Ints
    longs: Longs
    value: Floats
    grown: Floats
    pairs: Floats
    without: Ints
    code: Ints
    trial: Ints
    unit: Ints
    narrow: Ints
    run: Ints


class ChildTable(NamedTuple):
    """The children of every node, laid end to end: those of node v of attribute a from ``start[at[a] + v]`` on."""

    at: Longs
    start: Longs
    child: Ints
    rank: Ints  # of every node among its parent's children
    parent: Ints


class TopDownRoom(NamedTuple):
    """Room to split parts in: rows in the order of parts, three columns per row, four per child, the parts to do.

    Work ends where the flag ``halt`` is raised.
    """

    order: Ints
    rows: Ints
    children: Longs
    stack: Longs
    halt: Bools
