"""Loops of Classfly: the price of widening groups."""
