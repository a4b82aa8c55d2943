"""Slow twins of what kveil does fast: plain Python, and nothing of kveil imported."""
