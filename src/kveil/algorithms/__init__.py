"""7 SEARCH: one file a family, and the registry that lists them."""
