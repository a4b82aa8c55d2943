"""Where things stand in the arrays of the clusterings."""

from __future__ import annotations

BUCKET = 8  # tuples a node of the search tree holds before it is split
DEAD = 2**31 - 1  # in the place of a tuple's number: none is left
PARENT, FIRST, LAST, COST = range(4)  # of Costs.nodes
NODE, BOTTOM, TOP = range(3)  # of Costs.leaves
IS_TREE, BASE, FULL, MISSING = range(4)  # of Costs.attributes
LOWEST, LEFT, UP, BEGIN, END = range(5)  # of SearchTree.link
INDEX, REF, VERSION = range(3)  # of Heap.entry
