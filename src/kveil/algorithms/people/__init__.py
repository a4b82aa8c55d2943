"""One person, many records: 1:M-generalization, Partition, RMERGER."""
