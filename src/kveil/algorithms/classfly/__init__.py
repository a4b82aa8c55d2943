"""Classfly and Classfly+: records that satisfy their constraints are set aside, the rest is generalized."""
