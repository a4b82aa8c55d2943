"""Loops that judge groups by models."""
