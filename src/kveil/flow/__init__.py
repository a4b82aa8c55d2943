"""The uses of kveil, one file each: every one reads, calls the rooms in order, and returns what came of it.

What several uses have in common stands in `steps`; the same uses on a cluster in `cluster`.
"""
