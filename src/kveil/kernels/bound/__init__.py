"""Loops of the lower bound."""
