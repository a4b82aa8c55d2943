"""3 TEXTS TO INTEGERS AND BACK: trees as arrays, records as leaf numbers, solutions as released texts."""
