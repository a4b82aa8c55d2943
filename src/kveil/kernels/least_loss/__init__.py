"""Loops of the least-loss search."""
