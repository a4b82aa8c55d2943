"""Loops of K-MSD."""
