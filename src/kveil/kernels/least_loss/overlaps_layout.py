"""Where things stand in the arrays of the search under overlapping constraints, and the numbers tuned for it."""

from __future__ import annotations

from typing import NamedTuple

from kveil.arrays import Ints, Longs, Words

# `NodeColumns.ints`, per node: its first and last leaf, its parent, edges to the root, whether it is `*`.
FIRST, LAST, PARENT, DEPTH, STAR = range(5)
# `NodeColumns.spans`, from an attribute's place on: how many leaves it has, which of them is missing, the node that
# covers all of them, each -1 for none. Then, for every leaf, the number of the place where a span from it begins, and
# where one up to it ends; then, for every place to begin at, the first of its nodes, and where that ends.
SPAN_LEAVES, SPAN_MISSING, SPAN_STAR, SPAN_TABLE = range(4)
# `ShownRows.rows`, per constraint and row: its class, and its neighbours in the class's list.
OF, AFTER, BEFORE = range(3)
# `ShownRows.classes`, per constraint and class: first row, rows; the list of free numbers; whether the class waits to
# be looked at; whether it is listed as empty; what the models said of it while a proposal is judged; the row that left
# it last, -1 for none.
HEAD, SIZE, FREE, WAITS, EMPTY, VERDICT, LEFT_BY = range(7)
CLASS_FIELDS = 7
UNJUDGED, GOOD, BAD = range(3)  # verdicts
# `ShownRows.counts`: what all rows cost; tries and how many were kept; how full journal, queue and list of emptied
# classes are; what a row that costs something costs on average; how many such rows there are; looks of this try.
TOTAL, TRIES, KEPT, JOURNAL, QUEUE, EMPTIED, UNIT, ACTIVE, WORK = range(9)
COUNTS = 9
# Where a mover comes from, beside the numbers of classes.
STAYS, FROM_OUTSIDE = -1, -2

# `Constraints.order` and `TryRoom.active`: a row, and from the second column on its leaves in the set's attributes.
ROW, LEAVES = range(2)
# `TryRoom.vectors`: what the row of a try is to show, or what is proposed to all; what a row is tried with. Two are
# the first and last leaves that a class covers, or else what a row showed before, and its cheapest way up. The last is
# what covers two classes.
WISHED, TRIED, FIRST_LEAVES, LAST_LEAVES, WIDE = range(5)
SHOWN_BEFORE, UPWARD = 2, 3
# `TryRoom.journal`, per step: the row that moved, and whether it was out. `TryRoom.queue` and `emptied`: set and class.
MOVED, WAS_OUT = range(2)
SET, CLASS = range(2)
# `TryRoom.picked`: rows that are to move; the classes they came from, or the rows before they are sorted; rows that
# cost something. `TryRoom.worth`: what each gains or costs, and its number.
MOVERS, CAME_FROM, DEAR = range(3)
UNSORTED = 1
VALUE, INDEX = range(2)

# What a row may aim at. Some are listed twice or three times, which makes them as much likelier.
(
    ROW_AS_IT_IS, CONSTRAINT_AS_IT_IS, CONSTRAINT_LOWER, CONSTRAINT_LOWER_TOO,
    ONE_LOWER, ONE_LOWER_TOO, ONE_LOWER_AGAIN, ONE_LOWER_ONE_HIGHER,
    ROW_COVERING_ANOTHER, CONSTRAINT_COVERING_ANOTHER, ROW_LIKE_ANOTHER, CONSTRAINT_LIKE_ANOTHER,
) = range(12)  # fmt: skip
AIMS = 12

FAR = 1 << 60  # the cost of what cannot be done
SEEDS = 6  # rows that are drawn for a try, of which the costliest begins it
MOST_STEPS = 2048  # rows that one try may move
MOST_SEEN = 1_000  # rows that are looked at for one that could help
AROUND = 200  # rows that are looked at for one to be like
MERGE_LOOKS = 60  # rows whose classes are looked at for one to merge with
MOST_REPAIRS = 20  # classes that one try may mend
MOST_WORK = 50_000  # looks at rows that one try may take
WAY_UP_LOOKS = 60  # a row's way up takes as long as so many looks


class NodeColumns(NamedTuple):
    """The nodes of all attributes end to end, an attribute's from ``at`` on; ``cost`` is what each costs per row.

    The nodes of an attribute of numbers are spans, each number alone first: ``spans`` finds them by their ends, from
    ``span_at`` on, which is -1 for a tree. There a parent is a wider span, one of many; depths are edges as in a tree.
    """

    at: Longs
    ints: Ints
    cost: Longs
    whole: int  # what a row costs that is out
    spans: Ints
    span_at: Longs


class Climbs(NamedTuple):
    """What every row shows of every attribute at every depth, within its limit.

    ``at`` is row × attribute: where in ``nodes`` and ``cost`` the row's way down begins, one node per depth. Rows that
    are equal in an attribute share it.
    """

    at: Ints
    nodes: Ints
    cost: Longs


class Constraints(NamedTuple):
    """The sets of attributes whose classes are counted: attributes end to end, the least size of a class, models.

    ``order`` is set × row × 1 + attributes: rows sorted by their leaves in the set's first attribute, with their leaves
    in all of them. ``need`` says where each set's models begin.
    """

    start: Longs
    attribute: Ints
    k: Longs
    need: Longs
    order: Ints


class ShownRows(NamedTuple):
    """What every row shows, and the classes of equal projections as doubly linked lists.

    ``base`` is row × attribute, the lowest a row may show, ``limit`` the highest; a row that is ``out`` is in no class.
    ``projection`` is set × class × attribute; ``slots`` are hash tables of classes.
    """

    base: Ints
    limit: Ints
    nodes: Ints
    out: Ints
    cost: Longs
    least: Longs
    rows: Ints
    classes: Ints
    projection: Ints
    hashes: Words
    slots: Ints
    free: Longs
    counts: Longs
    random: Words


class TryRoom(NamedTuple):
    """Room for one try: vectors, the journal of what moved, classes to look at, and candidates.

    ``tally`` counts, per set and hash, the rows that would enter classes that are new; all of it is 0 between tries.
    ``places`` has where every row stands in the order of each set.
    """

    vectors: Ints
    journal: Ints
    before: Ints
    queue: Ints
    emptied: Ints
    picked: Ints
    worth: Longs
    target: Ints
    change: Longs
    active: Ints
    tally: Ints
    places: Ints
