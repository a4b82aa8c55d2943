"""Search: one folder per family of algorithms, and the registry that lists them."""
