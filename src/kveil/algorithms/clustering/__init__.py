"""Clustering: k-member, GreedyCKA, and clusters that satisfy models over sensitive values."""
