"""Loops that sort."""
