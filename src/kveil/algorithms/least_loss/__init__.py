"""Least loss: refine any valid solution without leaving the policy."""
