"""Texts to integers and back: trees as arrays, records as leaf numbers, solutions as released texts."""
