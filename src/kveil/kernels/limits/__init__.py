"""Loops that choose cells of numbers under a largest width."""
