"""Declared dependencies, kept after or during any search."""
