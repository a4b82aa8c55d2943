"""Loops that group equal rows."""
