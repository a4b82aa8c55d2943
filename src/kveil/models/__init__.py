"""Privacy models on groups, as the algorithms check them while they search."""
