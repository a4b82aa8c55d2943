"""The uses of kveil, one file each: every one reads, calls the rooms in order, and returns what came of it."""
