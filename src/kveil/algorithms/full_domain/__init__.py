"""Full-domain generalization: one level of each hierarchy for all records (Datafly, Incognito)."""
