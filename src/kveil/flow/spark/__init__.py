"""`kveil anonymize`, `verify`, `measure` and `check` where the table lies on a cluster."""
