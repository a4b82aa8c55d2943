"""Loops that cluster rows."""
