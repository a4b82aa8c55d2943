"""5 PRIVACY MODELS ON GROUPS: what the algorithms check while they search."""
