"""Loops that split rows into parts."""
