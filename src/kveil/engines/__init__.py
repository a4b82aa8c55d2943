"""Where an algorithm runs."""
