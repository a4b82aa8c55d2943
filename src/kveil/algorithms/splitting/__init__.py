"""Mondrian: a component of the table is split top-down into parts that satisfy every model."""
