"""Loops in Numba: arrays in, arrays out; nothing here knows of policies or texts."""
